;;; upskilld.el --- CUDA kernels checked and run -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages, tools

;;; Commentary:

;; Errors of NVIDIA's compiler while you type, and runs of a kernel against a
;; reference, without a GPU: the program `upskilld' as a language server for
;; eglot or lsp-mode.
;;
;;     (add-to-list 'load-path "/path/to/upskilld/clients/emacs")
;;     (require 'upskilld)
;;     (add-hook 'upskilld-cuda-mode-hook #'eglot-ensure)   ; or #'lsp
;;
;; With eglot the server is alone in CUDA files.  With lsp-mode it is an add-on
;; beside clangd; an error that both report is then shown once, as clangd's.

;;; Code:

(require 'seq)
(require 'subr-x)

(defgroup upskilld nil "CUDA kernels checked and run." :group 'tools)

(defcustom upskilld-program "upskilld"
  "The program: a name on `exec-path', or an absolute file name."
  :type 'string)

(defcustom upskilld-settings nil
  "Flags for every check, as a property list.
For example (:defines (:BLOCK 128) :include_dirs [\"third_party/include\"]
:std \"c++17\" :options [\"-lineinfo\"])."
  :type 'plist)

(defcustom upskilld-with-clangd 'auto
  "Whether clangd says what both know.
auto: as long as clangd serves a buffer too (lsp-mode)."
  :type '(choice (const auto) (const t) (const nil)))

(defun upskilld-find-program (&optional name)
  "The file of NAME, by default `upskilld-program', or signal an error."
  (or (executable-find (or name upskilld-program))
      (let ((home (expand-file-name (or name upskilld-program) "~/.local/bin")))
        (and (file-executable-p home) home))
      (user-error "%s is not on `exec-path': uv tool install upskilld-*.whl puts it there, or set `upskilld-program'"
                  (or name upskilld-program))))

(defun upskilld--settings (with-clangd)
  "What the server is told; WITH-CLANGD is nil or t."
  (append upskilld-settings (list :with_clangd (or with-clangd :json-false))))

;;; The mode of CUDA files

;;;###autoload
(define-derived-mode upskilld-cuda-mode c++-mode "CUDA"
  "C++ of NVIDIA's compilers: a mode of its own, so that it has servers of its own.")

(put 'upskilld-cuda-mode 'eglot-language-id "cuda")

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.cuh?\\'" . upskilld-cuda-mode))

(defconst upskilld-modes '(upskilld-cuda-mode cuda-mode cuda-ts-mode)
  "Modes of CUDA files, also those of other packages.")

;;; eglot

(defvar eglot-server-programs)

(defun upskilld--contact (&rest _)
  "The program and its options, for `eglot-server-programs'."
  (list (upskilld-find-program)
        :initializationOptions (upskilld--settings (eq upskilld-with-clangd t))))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons upskilld-modes #'upskilld--contact)))

;;; lsp-mode

(declare-function lsp-register-client "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function lsp-find-workspace "lsp-mode")
(declare-function lsp-notify "lsp-mode")
(declare-function lsp--on-diagnostics "lsp-mode")
(declare-function lsp--uri-to-path "lsp-protocol")
(declare-function lsp--workspace-diagnostics "lsp-mode")
(declare-function lsp-get "lsp-protocol")
(declare-function lsp-put "lsp-protocol")
(declare-function lsp-copy "lsp-protocol")
(defvar lsp-language-id-configuration)
(defvar lsp--cur-workspace)

(defvar upskilld--latest (make-hash-table :test #'equal)
  "File -> (workspace . params): what came last.")

(defvar upskilld--beside nil "What the server was told of clangd last.")

(defun upskilld--known-file-p (file &optional _mode)
  "Whether the server has something to say about FILE."
  (and file (string-match-p
             "\\(\\.cuh?\\|\\.check\\.json\\|/build\\.toml\\|/SKILL\\.md\\)\\'" file)))

(defun upskilld--clangd ()
  "The workspace of clangd for this buffer, or nil."
  (and (buffer-file-name) (lsp-find-workspace 'clangd (buffer-file-name))))

(defun upskilld--beside-clangd ()
  "Whether the server should leave to clangd what it says too."
  (if (eq upskilld-with-clangd 'auto)
      (and (upskilld--clangd) t)
    (and upskilld-with-clangd t)))

(defun upskilld--tell-clangd ()
  "Tell the server when clangd has come or gone."
  (when-let ((workspace (and (upskilld--known-file-p (buffer-file-name))
                             (lsp-find-workspace 'upskilld (buffer-file-name)))))
    (let ((now (upskilld--beside-clangd))
          (lsp--cur-workspace workspace))
      (unless (eq now upskilld--beside)
        (setq upskilld--beside now)
        (lsp-notify "workspace/didChangeConfiguration"
                    `(:settings (:upskilld ,(upskilld--settings now))))))))

(defun upskilld--line (diagnostic)
  "The line on which DIAGNOSTIC begins."
  (lsp-get (lsp-get (lsp-get diagnostic :range) :start) :line))

(defun upskilld--clangd-lines (file)
  "The lines of FILE with an error of clangd; `none' without clangd."
  (if-let ((clangd (lsp-find-workspace 'clangd file)))
      (mapcar #'upskilld--line
              (seq-filter (lambda (one) (eql (lsp-get one :severity) 1))
                          (gethash file (lsp--workspace-diagnostics clangd))))
    'none))

(defun upskilld--shown (diagnostic lines)
  "DIAGNOSTIC as it is shown beside errors of clangd on LINES, or nil.
A hint of the compiler is an error that clangd may report too."
  (let ((shared (and (eql (lsp-get diagnostic :severity) 4)
                     (equal (lsp-get diagnostic :source) "nvrtc"))))
    (cond ((not (and shared (listp lines))) diagnostic)
          ((memql (upskilld--line diagnostic) lines) nil)
          (t (let ((error (lsp-copy diagnostic)))
               (lsp-put error :severity 1)
               error)))))

(defvar upskilld--showing nil "Non-nil while our own diagnostics are shown.")

(defun upskilld--show (file)
  "Show what came last for FILE, compared with clangd's errors."
  (pcase-let* ((`(,workspace . ,params) (gethash file upskilld--latest))
               (lines (upskilld--clangd-lines file))
               (shown (lsp-copy params))
               (upskilld--showing t)
               (lsp--cur-workspace nil)) ; else lsp-mode shows those of one server only
    (lsp-put shown :diagnostics
             (vconcat (delq nil (mapcar (lambda (one) (upskilld--shown one lines))
                                        (lsp-get params :diagnostics)))))
    (with-current-buffer (or (find-buffer-visiting file) (current-buffer))
      (lsp--on-diagnostics workspace shown))))

(defun upskilld--publish (workspace params)
  "Take diagnostics in PARAMS from the server of WORKSPACE."
  (let ((file (lsp--uri-to-path (lsp-get params :uri))))
    (puthash file (cons workspace params) upskilld--latest)
    (upskilld--show file)))

(defun upskilld--compare-again ()
  "Compare with what another server has told."
  (unless upskilld--showing
    (dolist (file (hash-table-keys upskilld--latest))
      (if (find-buffer-visiting file)
          (upskilld--show file)
        (remhash file upskilld--latest)))))

(with-eval-after-load 'lsp-mode
  (dolist (mode upskilld-modes)
    ;; clangd starts for "cpp" in every version of lsp-mode; upskilld goes by the file's name.
    (add-to-list 'lsp-language-id-configuration (cons mode "cpp")))
  (lsp-register-client
   (make-lsp-client
    :new-connection (lsp-stdio-connection #'upskilld-find-program)
    :activation-fn #'upskilld--known-file-p
    :add-on? t
    :server-id 'upskilld
    :initialization-options
    (lambda () (setq upskilld--beside (upskilld--beside-clangd)) (upskilld--settings upskilld--beside))
    :notification-handlers
    (let ((handlers (make-hash-table :test #'equal)))
      (puthash "textDocument/publishDiagnostics" #'upskilld--publish handlers)
      handlers)))
  (add-hook 'lsp-after-open-hook #'upskilld--tell-clangd)
  (add-hook 'lsp-diagnostics-updated-hook #'upskilld--compare-again))

;;; Commands

(defun upskilld--control (&rest words)
  "Run upskillctl with WORDS in a buffer whose places can be visited."
  (save-some-buffers nil (lambda () (upskilld--known-file-p (buffer-file-name))))
  (let ((program (expand-file-name
                  "upskillctl" (file-name-directory (upskilld-find-program)))))
    (unless (file-executable-p program)
      (setq program (upskilld-find-program "upskillctl")))
    (let ((process-connection-type nil)) ; a pipe: words without colours
      (compilation-start (mapconcat #'shell-quote-argument (cons program words) " ")
                         nil (lambda (_) (format "*upskilld %s*" (cadr words)))))))

(defun upskilld--flags ()
  "The flags of `upskilld-settings' as upskillctl's options."
  (let ((root (or (locate-dominating-file default-directory ".git") default-directory))
        (defines (plist-get upskilld-settings :defines))
        (std (plist-get upskilld-settings :std))
        flags)
    (while defines
      (push (format "--defines=%s=%s" (substring (symbol-name (car defines)) 1) (cadr defines)) flags)
      (setq defines (cddr defines)))
    (seq-doseq (folder (plist-get upskilld-settings :include_dirs))
      (push (concat "--include-root=" (expand-file-name folder root)) flags))
    (seq-doseq (option (plist-get upskilld-settings :options))
      (push (concat "--option=" option) flags))
    (append (and std (list (concat "--std=" std))) (nreverse flags))))

(defun upskilld--file ()
  "The buffer's file, relative to its folder, or signal an error."
  (unless (upskilld--known-file-p (buffer-file-name))
    (user-error "This buffer is no .cu, .cuh or .check.json file"))
  (file-name-nondirectory (buffer-file-name)))

(defun upskilld--spec ()
  "The file of the buffer's check spec."
  (concat (replace-regexp-in-string "\\(\\.cuh?\\|\\.check\\.json\\)\\'" "" (upskilld--file))
          ".check.json"))

;;;###autoload
(defun upskilld-check ()
  "Say what NVIDIA's compiler says of this file: findings, registers, occupancy."
  (interactive)
  (apply #'upskilld--control "kernel" "check" (upskilld--file) (upskilld--flags)))

;;;###autoload
(defun upskilld-validate ()
  "Run this file's kernel as its check spec says."
  (interactive)
  (apply #'upskilld--control "kernel" "validate" (upskilld--file) (upskilld--flags)))

;;;###autoload
(defun upskilld-check-spec ()
  "Open this file's check spec; begin one from the host code where there is none."
  (interactive)
  (if (file-exists-p (upskilld--spec))
      (find-file-other-window (upskilld--spec))
    (upskilld--control "kernel" "init" (upskilld--file))))

(provide 'upskilld)
;;; upskilld.el ends here
