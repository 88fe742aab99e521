--- upskilld in Neovim 0.7 and newer: CUDA kernels, check specs and skills.
--
-- It works without a call. To change something, put one into your init file:
--
--     require("upskilld").setup({ defines = { BLOCK = 128 }, lenses = false })
--
-- :help upskilld lists the settings.
local clangd = require("upskilld.clangd")
local compat = require("upskilld.compat")

local M = {}

M.filetypes = { "cuda", "json", "jsonc", "markdown", "toml" }

M.settings = {
  cmd = nil, -- { "/path/to/upskilld" }; nil: from PATH, else ~/.local/bin/upskilld
  root_markers = { ".git", "upskilld.yaml", "compile_commands.json" }, -- the first kind that is found above a file
  lenses = true, -- show registers, spills and occupancy above kernels
  with_clangd = "auto", -- true, false; "auto": as long as clangd is attached to one of the buffers
  position_encoding = nil, -- "utf-16" where clangd counts so (:checkhealth upskilld tells)
  -- Flags for every check, as in upskilld.yaml; nil: the project's alone.
  defines = nil,
  include_dirs = nil,
  std = nil,
  options = nil,
}

local flags = { "defines", "include_dirs", "std", "options" }

--- The program, or nil when there is none.
function M.program()
  local named = M.settings.cmd and M.settings.cmd[1] or "upskilld"
  local found = vim.fn.exepath(named)
  if found == "" and not M.settings.cmd then
    found = vim.fn.exepath(vim.fn.expand("~/.local/bin/upskilld"))
  end
  return found ~= "" and found or nil
end

local function command()
  local rest = M.settings.cmd and vim.list_slice(M.settings.cmd, 2) or {}
  return vim.list_extend({ M.program() or "upskilld" }, rest)
end

--- Whether the server has something to say about a file of this name.
function M.knows(path)
  local name = vim.fn.fnamemodify(path, ":t")
  return name:match("%.cuh?$") or name:match("%.check%.json$") or name == "build.toml" or name:lower() == "skill.md"
end

--- The project's folder, else the file's own.
function M.root(path)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  for _, marker in ipairs(M.settings.root_markers) do
    local at = folder
    while true do
      if vim.loop.fs_stat(at .. "/" .. marker) then
        return at
      end
      local above = vim.fn.fnamemodify(at, ":h")
      if above == at then
        break
      end
      at = above
    end
  end
  return folder
end

--- What the server is told: the flags, and whether clangd speaks about the same files.
function M.server_settings(beside_clangd)
  local told = { with_clangd = beside_clangd }
  for _, flag in ipairs(flags) do
    told[flag] = M.settings[flag]
  end
  return told
end

local function capabilities()
  local known = vim.lsp.protocol.make_client_capabilities()
  -- Pushed diagnostics alone: clangd.lua compares them with clangd's. (Since 0.11, nil would mean the default.)
  known.textDocument.diagnostic = false
  if M.settings.position_encoding then
    known.general = known.general or {}
    known.general.positionEncodings = { M.settings.position_encoding }
  end
  return known
end

--- The server's configuration, as vim.lsp.start and vim.lsp.config take it.
function M.config()
  return {
    name = "upskilld",
    cmd = command(),
    init_options = M.server_settings(M.settings.with_clangd == true),
    capabilities = capabilities(),
    handlers = { ["textDocument/publishDiagnostics"] = clangd.publish },
    on_attach = function(client, bufnr)
      clangd.look(client.id)
      if M.settings.lenses then
        compat.show_lenses(client, bufnr)
      end
    end,
  }
end

local told_missing = false

local function tell_missing()
  if not told_missing then
    told_missing = true
    vim.notify("upskilld: the program is not on PATH. :help upskilld-program says how to get it.", vim.log.levels.WARN)
  end
end

--- Starts the server for a buffer, or joins the one that runs for its project.
function M.start(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= "" or path == "" or not M.knows(path) then
    return
  end
  if not M.program() then
    tell_missing()
    return
  end
  compat.start(vim.tbl_extend("force", M.config(), { root_dir = M.root(path) }), bufnr)
end

local function enable_new()
  local config = M.config()
  config.filetypes = M.filetypes
  config.root_dir = function(bufnr, on_dir)
    local path = vim.api.nvim_buf_get_name(bufnr)
    if path == "" or not M.knows(path) then
      return
    end
    if M.program() then
      on_dir(M.root(path))
    else
      tell_missing()
    end
  end
  vim.lsp.config("upskilld", config)
  vim.lsp.enable("upskilld")
end

--- From now on the server starts with the files that it knows.
function M.enable()
  local group = vim.api.nvim_create_augroup("upskilld", { clear = true })
  clangd.watch(group)
  if vim.lsp.config then
    enable_new()
    return
  end
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = M.filetypes,
    callback = function(event)
      M.start(event.buf)
    end,
  })
end

--- Settings of your own; what is left out keeps its default.
function M.setup(settings)
  for name in pairs(settings or {}) do
    if M.settings[name] == nil and not vim.tbl_contains({ "cmd", "position_encoding", unpack(flags) }, name) then
      error("upskilld: there is no setting " .. name .. " (:help upskilld-settings)", 2)
    end
  end
  M.settings = vim.tbl_extend("force", M.settings, settings or {})
  if vim.g.loaded_upskilld then
    M.enable()
  end
end

return M
