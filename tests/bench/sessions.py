"""A session of Claude Code, written line by line."""
import json


class Session:
    def __init__(self, path):
        self.file, self.n, self.size = open(path, "w"), 0, 0

    def add(self, kind, message):
        self.n += 1
        line = json.dumps({"type": kind, "uuid": "u%d" % self.n, "parentUuid": "u%d" % (self.n - 1) if self.n > 1 else None,
                           "sessionId": "s", "cwd": "/home/ann/proj", "message": message}) + "\n"
        self.size += self.file.write(line)

    def run(self, command, exit, out):
        call = "t%d" % self.n
        self.add("assistant", {"id": "m%d" % self.n, "content": [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}]})
        self.add("user", {"content": [{"type": "tool_result", "tool_use_id": call, "is_error": exit != 0,
                                       "content": ("Exit code %d\n" % exit if exit else "") + out}]})

    def edit(self, path, old, new):
        call = "t%d" % self.n
        self.add("assistant", {"id": "m%d" % self.n, "content": [{"type": "tool_use", "id": call, "name": "Edit", "input": {
            "file_path": "/home/ann/proj/" + path, "old_string": old, "new_string": new}}]})
        self.add("user", {"content": [{"type": "tool_result", "tool_use_id": call, "content": "updated"}]})
