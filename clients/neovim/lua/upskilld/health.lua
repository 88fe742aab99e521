--- :checkhealth upskilld
local compat = require("upskilld.compat")

local M = {}
local health = compat.health

local function check_program()
  local upskilld = require("upskilld")
  local program = upskilld.program()
  if not program then
    health.error("upskilld is not on PATH, nor in ~/.local/bin", { "Put it there: uv tool install upskilld-*.whl, or ./setup --prefix ~/.local in a clone",
      'Or name it: require("upskilld").setup({ cmd = { "/path/to/upskilld" } })' })
    return
  end
  health.ok("program: " .. program)
end

local function ask_status(client)
  local answer, done
  compat.call(client, "request", "workspace/executeCommand", {
    command = "upskilld.daemon.status",
    arguments = { vim.empty_dict() },
  }, function(_, result)
    answer, done = result, true
  end, 0)
  vim.wait(5000, function()
    return done
  end, 20)
  return answer
end

local function tell_missing(status)
  for _, lack in ipairs(type(status.missing) == "table" and status.missing or {}) do
    health.warn(("%s: %s"):format(lack.what or "missing", lack.hint or vim.inspect(lack)))
  end
end

local function tell_compilers(status)
  local kernels = type(status.kernels) == "table" and status.kernels or {}
  local toolkits = type(kernels.toolkits) == "table" and kernels.toolkits or {}
  for _, toolkit in ipairs(toolkits) do
    health.ok(("CUDA %s compiler: %s"):format(toolkit.major, toolkit.root))
  end
  if #toolkits == 0 then
    health.info("no CUDA compiler was found yet; it is looked for with the first .cu file")
  end
end

local function check_encodings(client)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local clangd = vim.lsp.buf_is_attached(bufnr, client.id) and require("upskilld.clangd").of(bufnr)
    if clangd and clangd.offset_encoding ~= client.offset_encoding then
      health.warn(("clangd counts in %s, upskilld in %s"):format(clangd.offset_encoding, client.offset_encoding), {
        ('require("upskilld").setup({ position_encoding = "%s" })'):format(clangd.offset_encoding),
      })
      return
    elseif clangd then
      health.ok("beside clangd, both count in " .. client.offset_encoding)
      return
    end
  end
end

local function check_client(client)
  health.ok(("runs for %s"):format(client.config.root_dir or "one file"))
  local status = ask_status(client)
  if not status then
    health.error("the server does not answer: :UpskilldRestart starts it again")
    return
  end
  health.info("version " .. tostring(status.version))
  tell_compilers(status)
  tell_missing(status)
  check_encodings(client)
end

function M.check()
  health.start("upskilld")
  check_program()
  local clients = compat.clients("upskilld")
  for _, client in ipairs(clients) do
    check_client(client)
  end
  if #clients == 0 then
    health.info("no server runs: it starts with a .cu, .cuh or .check.json file, SKILL.md or build.toml")
  end
end

return M
