--- What Neovim's versions call differently.
local M = {}

--- The running clients of a name (nil: all), of a buffer (nil: all).
function M.clients(name, bufnr)
  local list = {}
  for _, client in pairs(vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()) do
    local attached = not bufnr or vim.lsp.buf_is_attached(bufnr, client.id)
    if attached and (not name or client.name == name) then
      table.insert(list, client)
    end
  end
  return list
end

--- A method of a client: request, notify, cancel_request, stop.
function M.call(client, method, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[method](client, ...)
  end
  return client[method](...)
end

--- Neovim 0.7 has no vim.lsp.start.
function M.start(config, bufnr)
  if vim.lsp.start then
    vim.api.nvim_buf_call(bufnr, function()
      vim.lsp.start(config)
    end)
    return
  end
  for _, client in ipairs(M.clients(config.name)) do
    if client.config.root_dir == config.root_dir then
      vim.lsp.buf_attach_client(bufnr, client.id)
      return
    end
  end
  local id = vim.lsp.start_client(config)
  if id then
    vim.lsp.buf_attach_client(bufnr, id)
  end
end

--- Ends the clients of a name.
function M.stop(name)
  if vim.lsp.enable then
    vim.lsp.enable(name, false) -- lets go of the buffers first
    vim.lsp.enable(name)
  end
  for _, client in ipairs(M.clients(name)) do
    if not client.is_stopped or not M.call(client, "is_stopped") then
      M.call(client, "stop")
    end
  end
end

local function ask_for_lenses(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  vim.api.nvim_buf_call(bufnr, function()
    if vim.fn.has("nvim-0.10") == 1 then
      vim.lsp.codelens.refresh({ bufnr = bufnr })
    else
      vim.lsp.codelens.refresh()
    end
  end)
end

--- Asks for lenses again; since 0.12 Neovim does so itself.
function M.refresh_lenses(bufnr)
  if not vim.lsp.codelens.enable and vim.b[bufnr].upskilld_lenses then
    vim.schedule(function()
      ask_for_lenses(bufnr)
    end)
  end
end

function M.show_lenses(client, bufnr)
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = bufnr, client_id = client.id })
  else
    vim.b[bufnr].upskilld_lenses = true
    M.refresh_lenses(bufnr)
  end
end

--- The words of :checkhealth, which 0.10 renamed.
M.health = setmetatable({}, {
  __index = function(_, word)
    local old = { start = "report_start", ok = "report_ok", warn = "report_warn", error = "report_error", info = "report_info" }
    local health = vim.health or require("health")
    return health[word] or health[old[word]]
  end,
})

return M
