-- The LSP face in Neovim (0.7 and later), as a person uses it.
--
--     UPSKILLD=/path/to/upskilld nvim --headless -u NONE -S neovim.lua
--
-- Ends with status 0, or 1 and a sentence that says what went wrong. Needs CUDA's compiler, as
-- `./setup` installs it.

local patience = 30000 -- milliseconds
local server = os.getenv("UPSKILLD") or "upskilld"
local here = vim.fn.fnamemodify(vim.fn.resolve(vim.fn.expand("<sfile>:p")), ":h")
local folder = vim.fn.tempname()
local exit_code

local function leave(status, sentence)
  io.stderr:write("neovim: " .. sentence .. "\n")
  vim.fn.delete(folder, "rf")
  vim.cmd(status == 0 and "qall!" or "cquit 1")
end

local function must(condition, sentence)
  if not condition then
    error(sentence, 0)
  end
end

local function wait(predicate, what)
  must(vim.wait(patience, predicate, 10), "waited too long for " .. what)
end

local function errors()
  return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
end

local function ask(method, params)
  params = vim.tbl_extend("force", { textDocument = vim.lsp.util.make_text_document_params() },
    params or {})
  local answers, problem = vim.lsp.buf_request_sync(0, method, params, patience)
  must(answers, method .. ": " .. tostring(problem))
  for _, answer in pairs(answers) do
    must(not answer.err, method .. ": " .. vim.inspect(answer.err))
    return answer.result
  end
end

local function start()
  return vim.lsp.start_client({
    name = "upskilld",
    cmd = { server },
    root_dir = folder,
    on_exit = function(code)
      exit_code = code
    end,
  })
end

local function open(name, lines)
  local path = folder .. "/" .. name
  vim.fn.writefile(lines, path)
  vim.cmd("edit " .. path)
  vim.bo.filetype = "cuda"
end

local function diagnostics_follow_the_text()
  wait(function()
    return #errors() > 0
  end, "the error's diagnostic")
  local found = errors()[1]
  must(found.message:match("missing_name"), "the diagnostic says " .. found.message)
  must(found.lnum == 1, "the diagnostic is on line " .. found.lnum)
  -- bytes: Neovim has turned the server's UTF-16 units back
  local line = vim.api.nvim_buf_get_lines(0, 1, 2, true)[1]
  must(found.col == line:find("missing_name") - 1, "the diagnostic is in column " .. found.col)
  local at = found.col
  vim.api.nvim_buf_set_text(0, 1, at, 1, at + #"missing_name", { "1.0f" })
  wait(function()
    return #errors() == 0
  end, "the mended text's diagnostics")
end

local function facts_are_shown()
  vim.cmd("silent write")
  local hover
  wait(function()
    hover = ask("textDocument/hover", { position = { line = 0, character = 17 } })
    return hover and hover.contents.value:match("register")
  end, "a hover with registers")
  local lenses = ask("textDocument/codeLens")
  must(lenses[1] and lenses[1].command.title:match("%d+ regs"), "no lens: " .. vim.inspect(lenses))
  local symbols = ask("textDocument/documentSymbol")
  must(symbols[1] and symbols[1].name:match("fill"), "no symbol: " .. vim.inspect(symbols))
end

local function fixes_cure(client)
  open("fix.cu", { "__global__ void fill(float *out) {", "    out[threadIdx.x] = FLT_MAX;", "}" })
  vim.lsp.buf_attach_client(0, client)
  wait(function()
    return #errors() > 0
  end, "FLT_MAX's diagnostic")
  local position = { line = 1, character = 24 }
  local actions = ask("textDocument/codeAction", {
    range = { start = position, ["end"] = position },
    context = { diagnostics = {} },
  })
  must(actions[1], "there is no fix for " .. errors()[1].message)
  vim.lsp.util.apply_workspace_edit(actions[1].edit,
    vim.lsp.get_client_by_id(client).offset_encoding)
  wait(function()
    return #errors() == 0
  end, "the cured text's diagnostics")
end

local function commands_run()
  local result = ask("workspace/executeCommand", {
    command = "upskilld.kernel.check",
    arguments = { { source = "__global__ void nothing() {}" } },
  })
  must(result.ok and result.kernels[1].name:match("nothing"), "kernel.check: " .. vim.inspect(result))
end

local function run()
  vim.fn.mkdir(folder, "p")
  open("k.cu", {
    "__global__ void fill(float *out) {",
    "    /* 𝛼 */ out[threadIdx.x] = missing_name; // 𝛽",
    "}",
  })
  local client = start()
  must(client, "the server cannot be started: " .. server)
  vim.lsp.buf_attach_client(0, client)
  diagnostics_follow_the_text()
  facts_are_shown()
  fixes_cure(client)
  commands_run()
  vim.lsp.stop_client(client)
  wait(function()
    return exit_code
  end, "the server's end")
  must(exit_code == 0, "the server ended with status " .. exit_code)
end

local good, sentence = pcall(run)
leave(good and 0 or 1, good and "ok" or tostring(sentence))
