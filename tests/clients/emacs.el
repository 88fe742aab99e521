;;; emacs.el --- clients/emacs in a real Emacs -*- lexical-binding: t; -*-

;; UPSKILLD=/path/to/upskilld emacs -q --no-site-file --batch -L CLIENTS/emacs -l emacs.el -f upskilld-test-eglot
;; (or -f upskilld-test-lsp).  Ends with status 0, or 1 and a sentence that says what went wrong.  Needs CUDA's
;; compiler, as `./setup' installs it; with lsp-mode also clangd.

(require 'flymake)
(require 'imenu)

(defvar upskilld-test-folder (file-truename (make-temp-file "upskilld" t)))

(defun upskilld-test-wait (what predicate)
  (let ((tries 600))
    (while (not (or (funcall predicate) (zerop tries)))
      (accept-process-output nil 0.05)
      (when (bound-and-true-p eglot--managed-mode) (flymake-start))
      (setq tries (1- tries)))
    (when (zerop tries)
      (error "Waited too long for %s; %S" what (upskilld-test-shown)))))

(defun upskilld-test-write (name &rest lines)
  (let ((file (expand-file-name name upskilld-test-folder)))
    (make-directory (file-name-directory file) t)
    (write-region (string-join lines "\n") nil file nil 'quiet)
    file))

;; What is shown, as texts "LINE TYPE MESSAGE".
(defun upskilld-test-shown ()
  (mapcar (lambda (one)
            (format "%d %s %s" (line-number-at-pos (flymake-diagnostic-beg one))
                    (flymake-diagnostic-type one) (flymake-diagnostic-text one)))
          (flymake-diagnostics)))

(defun upskilld-test-count (pattern)
  (seq-count (lambda (text) (string-match-p pattern text)) (upskilld-test-shown)))

(defun upskilld-test-project ()
  (make-directory (expand-file-name ".git" upskilld-test-folder))
  (upskilld-test-write "upskilld.yaml" "defines: {BLOCK: 64}\n")
  (upskilld-test-write "src/k.cu"
                       "__global__ void scale(float *y, const float *x, int n) {"
                       "    static_assert(BLOCK == 64 && TILE == 8);"
                       "    int i = blockIdx.x * blockDim.x + threadIdx.x;"
                       "    if (i <= n) y[i] = x[i] * missing_name;"
                       "}" ""))

(defun upskilld-test-replace (from to)
  (goto-char (point-min))
  (search-forward from)
  (replace-match to t t))

(defun upskilld-test-commands ()
  (upskilld-test-write "src/k.check.json"
                       "{\"sizes\": {\"n\": 100}, \"trials\": 1, \"launch\": {\"grid\": [\"ceil_div(n, 32)\"], \"block\": [32]},"
                       " \"args\": [{\"name\": \"y\", \"type\": \"float32\", \"shape\": [\"n\"], \"output\": true},"
                       " {\"name\": \"x\", \"type\": \"float32\", \"shape\": [\"n\"], \"init\": {\"arange\": [1, 1]}},"
                       " {\"name\": \"n\", \"type\": \"int32\", \"value\": \"n\"}], \"expect\": {\"expression\": {\"y\": \"x[i] * 0.5\"}}}")
  (with-current-buffer (find-file-noselect (expand-file-name "src/twice.cu" upskilld-test-folder))
    (insert "__global__ void twice(float *x, int n) { x[threadIdx.x] *= 2; }\n")
    (save-buffer)
    (upskilld-validate)
    (upskilld-test-wait "the word that the check spec is missing"
                        (lambda () (upskilld-test-says "*upskilld validate*" "twice.check.json")))
    (upskilld-check-spec)
    (upskilld-test-wait "the new check spec"
                        (lambda () (file-exists-p (expand-file-name "src/twice.check.json" upskilld-test-folder)))))
  (upskilld-validate)
  (upskilld-test-wait "the verdict" (lambda () (upskilld-test-says "*upskilld validate*" "^fail: out_of_bounds, ")))
  (unless (upskilld-test-says "*upskilld validate*" "k.cu:4:[0-9]+: error: Invalid global read")
    (error "No finding: %s" (with-current-buffer "*upskilld validate*" (buffer-string))))
  (with-current-buffer "*upskilld validate*"
    (compilation--ensure-parse (point-max))
    (goto-char (point-min))
    (search-forward "k.cu:4:")
    (unless (get-text-property (match-beginning 0) 'compilation-message)
      (error "Places in the result cannot be visited"))))

(defun upskilld-test-says (buffer pattern)
  (and (get-buffer buffer)
       (with-current-buffer buffer
         (save-excursion (goto-char (point-min)) (re-search-forward pattern nil t)))))

(defun upskilld-test-run (body)
  (setq upskilld-program (getenv "UPSKILLD")
        upskilld-settings '(:defines (:TILE 8))
        upskilld-cuda-mode-hook (lambda () (setq-local flymake-diagnostic-functions nil)) ; no make, no gcc
        create-lockfiles nil make-backup-files nil auto-save-default nil)
  (let ((status 1))
    (unwind-protect
        (condition-case problem
            (progn (funcall body) (message "ok") (setq status 0))
          (error (message "%s" (error-message-string problem))))
      (delete-directory upskilld-test-folder t)
      (kill-emacs status))))

(defun upskilld-test-eglot ()
  (package-initialize)
  (require 'eglot)
  (require 'upskilld)
  (upskilld-test-run
   (lambda ()
     (setq eglot-sync-connect t eglot-autoshutdown nil)
     (find-file (upskilld-test-project))
     (unless (eq major-mode 'upskilld-cuda-mode) (error "The mode is %s" major-mode))
     (call-interactively #'eglot)
     (upskilld-test-wait "the error" (lambda () (= 1 (upskilld-test-count "^4 .*error.*missing_name"))))
     (upskilld-test-replace "missing_name" "0.5f")
     (eglot--signal-textDocument/didChange)
     (upskilld-test-wait "no finding" (lambda () (null (flymake-diagnostics))))
     (save-buffer)
     (unless (assoc "scale" (flatten-tree-names (funcall imenu-create-index-function)))
       (error "No symbol: %S" (funcall imenu-create-index-function)))
     (goto-char (point-min))
     (search-forward "scale")
     (let (hover)
       (upskilld-test-wait
        "a hover with registers"
        (lambda ()
          (setq hover (jsonrpc-request (eglot-current-server) :textDocument/hover
                                       (eglot--TextDocumentPositionParams)))
          (and hover (string-match-p "registers" (format "%S" hover))))))
     (upskilld-test-commands)
     (eglot-shutdown (eglot-current-server)))))

;; The entries of an imenu index, also of its menus.
(defun flatten-tree-names (index)
  (mapcan (lambda (entry)
            (if (and (consp (cdr entry)) (listp (cdr entry)) (consp (cadr entry)))
                (flatten-tree-names (cdr entry))
              (list entry)))
          (copy-sequence index)))

(defun upskilld-test-lsp ()
  (package-initialize)
  (require 'lsp-mode)
  (require 'lsp-clangd)
  (require 'upskilld)
  (upskilld-test-run
   (lambda ()
     (setq lsp-auto-guess-root t lsp-enable-snippet nil lsp-keep-workspace-alive nil lsp-warn-no-matched-clients nil
           lsp-diagnostics-provider :flymake lsp-enable-file-watchers nil lsp-headerline-breadcrumb-enable nil
           lsp-completion-enable nil lsp-session-file (expand-file-name "session" upskilld-test-folder))
     (upskilld-test-write "cuda.h" "#define __global__ __attribute__((global))\n")
     (upskilld-test-write ".clangd" "CompileFlags:" (format "  Add: [-xcuda, -nocudainc, -nocudalib, -include, %scuda.h]"
                                                            (file-name-as-directory upskilld-test-folder)) "")
     (upskilld-test-project)
     ;; clang knows variable-length arrays, NVIDIA's compiler does not.
     (find-file (upskilld-test-write "src/both.cu" "__global__ void k(float *x, int n) {" "    x[0] = missing_name;"
                                     "    float a[n];" "    x[1] = a[n - 1];" "}" ""))
     (lsp)
     (upskilld-test-wait "both servers" (lambda () (and (lsp-find-workspace 'upskilld (buffer-file-name))
                                                        (lsp-find-workspace 'clangd (buffer-file-name)))))
     (upskilld-test-wait "clangd's error alone, and ours that clangd lacks"
                         (lambda () (and (= 1 (upskilld-test-count "missing_name"))
                                         (= 1 (upskilld-test-count "[uU]se of undeclared identifier"))
                                         (= 1 (upskilld-test-count "^3 .*error.*constant value"))))))))

;; A project of 30 files (cmake_project) in the folder PROJECT: no false error.  The times are printed, not judged.
(defun upskilld-test-thirty ()
  (package-initialize)
  (require 'eglot)
  (require 'upskilld)
  (let ((told (make-hash-table :test #'equal)) (wrong nil) (times nil) (connect #'eglot))
    (cl-defmethod eglot-handle-notification :before
      (_server (_method (eql textDocument/publishDiagnostics)) &key uri diagnostics &allow-other-keys)
      (unless (gethash uri told) (puthash uri (float-time) told))
      (seq-doseq (one diagnostics)
        (when (eql (plist-get one :severity) 1) (push (plist-get one :message) wrong))))
    (upskilld-test-run
     (lambda ()
       (setq upskilld-settings nil eglot-sync-connect t)
       (dolist (file (directory-files (expand-file-name "src" (getenv "PROJECT")) t "\\.cu\\'"))
         (let ((uri (concat "file://" file)) (before (float-time)))
           (find-file file)
           (if times (eglot--maybe-activate-editing-mode) (call-interactively connect))
           (upskilld-test-wait file (lambda () (gethash uri told)))
           (push (* 1000 (- (gethash uri told) before)) times)))
       (let ((warm (sort (butlast times) #'<)))
         (message "%d files, %d errors; first findings %.0f ms, then median %.0f ms, worst %.0f ms" (length times)
                  (length wrong) (car (last times)) (nth (/ (length warm) 2) warm) (car (last warm))))
       (when (or wrong (/= (length times) 30)) (error "%d files, errors: %S" (length times) wrong))))))
