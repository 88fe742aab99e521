--- Beside clangd: an error that both report is shown once, as clangd's.
--
-- While clangd is attached to one of its buffers, the server is told so. It then sends errors of the compiler's
-- front end as hints (clangd reports most of them, not all), and leaves symbols and hovers of CUDA's names to clangd.
-- Here such a hint goes away where clangd has an error on the same line, and is an error where it has none.
local compat = require("upskilld.compat")

local M = {}

local HINT, ERROR = 4, 1 -- LSP's severities
local beside = {} -- client id -> what the server was told last
local latest = {} -- buffer -> {params, context} of the diagnostics that came last
local compared = {} -- buffer -> clangd's lines that they were compared with

local function is_clangd(client)
  local cmd = client.config and client.config.cmd
  local program = type(cmd) == "table" and cmd[1] or ""
  return client.name == "clangd" or vim.fn.fnamemodify(program, ":t"):match("^clangd") ~= nil
end

--- The clangd of a buffer, or nil.
function M.of(bufnr)
  for _, client in ipairs(compat.clients(nil, bufnr)) do
    if is_clangd(client) then
      return client
    end
  end
end

-- {line: true}, and the same as a text.
local function lines_of_clangd(bufnr)
  local client, lines, key = M.of(bufnr), {}, {}
  if client then
    local namespace = vim.lsp.diagnostic.get_namespace(client.id)
    for _, found in ipairs(vim.diagnostic.get(bufnr, { namespace = namespace, severity = ERROR })) do
      lines[found.lnum] = true
      table.insert(key, found.lnum)
    end
  end
  return lines, client and table.concat(key, ",") or "none"
end

local function compare(bufnr, diagnostics)
  local lines, key = lines_of_clangd(bufnr)
  compared[bufnr] = key
  if key == "none" then
    return diagnostics
  end
  local shown = {}
  for _, one in ipairs(diagnostics) do
    local shared = one.severity == HINT and one.source == "nvrtc"
    if not shared then
      table.insert(shown, one)
    elseif not lines[one.range.start.line] then
      table.insert(shown, vim.tbl_extend("force", one, { severity = ERROR }))
    end
  end
  return shown
end

local function show(bufnr)
  local params, context = unpack(latest[bufnr])
  local told = vim.tbl_extend("force", params, { diagnostics = compare(bufnr, params.diagnostics) })
  vim.lsp.handlers["textDocument/publishDiagnostics"](nil, told, context, {})
end

--- The handler of textDocument/publishDiagnostics.
function M.publish(problem, params, context)
  if problem or not params then
    return
  end
  local bufnr = vim.uri_to_bufnr(params.uri)
  latest[bufnr] = { params, context }
  show(bufnr)
  compat.refresh_lenses(bufnr)
end

local function is_beside(client)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.lsp.buf_is_attached(bufnr, client.id) and M.of(bufnr) then
      return true
    end
  end
  return false
end

--- Tells a server of ours when clangd has come or gone.
function M.look(id)
  local client = vim.lsp.get_client_by_id(id)
  local upskilld = require("upskilld")
  if not client or upskilld.settings.with_clangd ~= "auto" then
    return
  end
  local now = is_beside(client)
  if now ~= (beside[id] or false) then
    beside[id] = now
    compat.call(client, "notify", "workspace/didChangeConfiguration", {
      settings = { upskilld = upskilld.server_settings(now) },
    })
  end
end

local function look_all()
  for _, client in ipairs(compat.clients("upskilld")) do
    M.look(client.id)
  end
end

local function clangd_changed(event)
  look_all()
  if latest[event.buf] and select(2, lines_of_clangd(event.buf)) ~= compared[event.buf] then
    show(event.buf)
  end
end

--- Watches for clangd, and for what it finds.
function M.watch(group)
  vim.api.nvim_create_autocmd("DiagnosticChanged", { group = group, callback = clangd_changed })
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    callback = function(event)
      latest[event.buf], compared[event.buf] = nil, nil
    end,
  })
  if vim.fn.exists("##LspAttach") == 1 then
    vim.api.nvim_create_autocmd({ "LspAttach", "LspDetach" }, {
      group = group,
      callback = function()
        vim.schedule(look_all)
      end,
    })
  end
end

return M
