"""scratch: folders of a test, which are gone when it ends."""
import atexit, os, shutil, tempfile


def folder(prefix):
    """A new one beneath $TMPDIR or /tmp, by its real path."""
    path = os.path.realpath(tempfile.mkdtemp(prefix=prefix))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path
