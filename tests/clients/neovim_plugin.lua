-- clients/neovim in Neovim (0.7 and later), as a person has it installed.
--
--     UPSKILLD=/path/to/upskilld nvim --headless -u NONE -S neovim_plugin.lua
--
-- Ends with status 0, or 1 and a sentence that says what went wrong. Needs CUDA's compiler, as `./setup` installs it,
-- and looks at both servers together where clangd is installed.

local patience = 30000 -- milliseconds
local here = vim.fn.fnamemodify(vim.fn.resolve(vim.fn.expand("<sfile>:p")), ":h")
local folder = vim.fn.resolve(vim.fn.tempname())
local severity = vim.diagnostic.severity

local function leave(status, sentence)
  io.stderr:write("neovim plugin: " .. sentence .. "\n")
  vim.fn.delete(folder, "rf")
  vim.cmd(status == 0 and "qall!" or "cquit 1")
end

local function must(condition, sentence)
  if not condition then
    error(sentence, 0)
  end
end

local function wait(predicate, what)
  must(vim.wait(patience, predicate, 20), "waited too long for " .. what .. "; " ..
    vim.inspect(vim.diagnostic.get(0)) .. vim.fn.execute("messages"))
end

local function clients()
  return vim.tbl_filter(function(client)
    return client.name == "upskilld"
  end, vim.tbl_values(vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()))
end

local function write(name, lines)
  vim.fn.mkdir(vim.fn.fnamemodify(folder .. "/" .. name, ":h"), "p")
  vim.fn.writefile(lines, folder .. "/" .. name)
  return folder .. "/" .. name
end

local function diagnostics(filter)
  return vim.tbl_filter(filter, vim.diagnostic.get(0))
end

local function errors_of(pattern)
  return #diagnostics(function(one)
    return one.severity == severity.ERROR and one.message:match(pattern)
  end)
end

local function text_of(name)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(bufnr):match(name) then
      return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
    end
  end
  return ""
end

local function lens_titles()
  local lenses = vim.fn.has("nvim-0.12") == 1 and vim.lsp.codelens.get({ bufnr = 0 }) or vim.lsp.codelens.get(0)
  local titles = {}
  for _, lens in ipairs(lenses) do
    local of = lens.lens or lens
    table.insert(titles, of.command and of.command.title or "")
  end
  return table.concat(titles, "|")
end

local function starts_with_a_file()
  must(vim.fn.exists(":UpskilldValidate") == 2, "the plugin's commands are not there")
  vim.cmd("edit " .. write("src/k.cu", {
    "__global__ void scale(float *y, const float *x, int n) {",
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "    if (i <= n) y[i] = x[i] * missing_name;",
    "}",
  }))
  wait(function()
    return errors_of("missing_name") == 1
  end, "the error's diagnostic")
  must(#clients() == 1, "there are " .. #clients() .. " servers")
  must(clients()[1].config.root_dir == folder, "the project's folder is " .. tostring(clients()[1].config.root_dir))
end

local function takes_flags_of_the_project_and_of_settings()
  vim.api.nvim_buf_set_lines(0, 2, 3, true, { "    static_assert(BLOCK == 64 && TILE == 8); if (i <= n) y[i] = x[i] * 0.5f;" })
  vim.cmd("silent write")
  wait(function()
    return #vim.diagnostic.get(0) == 0
  end, "the flags of upskilld.yaml and of setup()")
end

local function shows_lenses()
  wait(function()
    return lens_titles():match("%d+ regs")
  end, "a lens with registers")
end

local function lists_the_compilers_facts()
  vim.cmd("UpskilldCheck")
  wait(function()
    return text_of("upskilld://check/"):match("scale: %d+ registers, 0 bytes spilled")
  end, "the window with registers: " .. text_of("upskilld://check/"))
  must(text_of("upskilld://check/"):match("%% occupancy"), "no occupancy: " .. text_of("upskilld://check/"))
end

local function validates()
  write("src/k.check.json", { '{"sizes": {"n": 100}, "trials": 1, "launch": {"grid": ["ceil_div(n, 32)"], "block": [32]}, "args": [',
    '{"name": "y", "type": "float32", "shape": ["n"], "output": true},',
    '{"name": "x", "type": "float32", "shape": ["n"], "init": {"arange": [1, 1]}},',
    '{"name": "n", "type": "int32", "value": "n"}], "expect": {"expression": {"y": "x[i] * 0.5"}}}' })
  vim.cmd("UpskilldValidate")
  wait(function()
    return text_of("upskilld://validate/"):match("verdict: fail")
  end, "the verdict: " .. text_of("upskilld://validate/"))
  local text = text_of("upskilld://validate/")
  must(text:match("src/k%.cu:3:%d+: error: Invalid global read.-%[out_of_bounds%]"), "no finding with its place: " .. text)
  must(text:match("n=100: fail, grid 4,1,1, block 32,1,1"), "no case: " .. text)
  wait(function()
    return errors_of("Invalid global") > 0
  end, "the finding at its line")
  vim.api.nvim_buf_set_lines(0, 2, 3, true, { "    if (i < n) y[i] = x[i] * 0.5f;" })
  vim.cmd("UpskilldValidate")
  wait(function()
    return text_of("upskilld://validate/"):match("verdict: pass.-y: 0 wrong elements, max error 0")
  end, "the verdict of the mended kernel: " .. text_of("upskilld://validate/"))
  vim.cmd("silent write")
end

local function begins_a_check_spec()
  vim.cmd("edit " .. write("src/twice.cu", {
    "__global__ void twice(float *x, int n) {",
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "    if (i < n) x[i] *= 2;",
    "}",
    "int main() {",
    "    int n = 1000;",
    "    float *d;",
    "    cudaMalloc(&d, n * sizeof(float));",
    "    twice<<<(n + 255) / 256, 256>>>(d, n);",
    "}",
  }))
  wait(function()
    return #clients() == 1 and vim.lsp.buf_is_attached(0, clients()[1].id)
  end, "the same server for a second file")
  vim.cmd("UpskilldCheckSpec")
  wait(function()
    return vim.api.nvim_buf_get_name(0):match("twice%.check%.json$")
  end, "the new check spec's window: " .. text_of("upskilld://check%-spec/"))
  must(text_of("upskilld://check%-spec/"):match("not known: expect"), "what is not known is not said")
  vim.cmd("only")
end

local function is_healthy()
  vim.cmd("silent checkhealth upskilld")
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
  must(text:match("program: .-upskilld") and text:match("CUDA 1%d compiler"), "checkhealth says " .. text)
  must(not text:match("ERROR") and not text:match("❌"), "checkhealth has an error: " .. text)
  vim.cmd("bwipeout!")
end

local function restarts()
  vim.cmd("edit! " .. folder .. "/src/k.cu")
  local before = clients()[1].id
  vim.cmd("UpskilldRestart")
  wait(function()
    local now = clients()[1]
    return now and now.id ~= before and vim.lsp.buf_is_attached(0, now.id) and lens_titles():match("regs")
  end, "the new server")
end

-- clang knows variable-length arrays, NVIDIA's compiler does not. The stand-in for CUDA's headers lets any clangd read
-- the file.
local function says_once_what_clangd_says_too()
  write("cuda.h", { "#define __global__ __attribute__((global))" })
  write(".clangd", { "CompileFlags:", "  Add: [-nocudainc, -nocudalib, -include, " .. folder .. "/cuda.h]" })
  vim.cmd("edit! " .. write("src/both.cu", { "__global__ void k(float *x, int n) {", "    x[0] = missing_name;", "    float a[n];",
    "    x[1] = a[n - 1];", "}" }))
  wait(function()
    return errors_of("missing_name") == 1 and errors_of("constant value") == 1
  end, "the errors without clangd")
  local config = { name = "clangd", cmd = { "clangd" }, root_dir = folder }
  local id = vim.lsp.start and vim.lsp.start(config) or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
  wait(function()
    local shown = diagnostics(function(one)
      return one.message:match("missing_name")
    end)
    return #shown == 1 and shown[1].source == "clang" and errors_of("constant value") == 1
  end, "clangd's error alone, and ours that clangd lacks")
  local client = vim.lsp.get_client_by_id(id)
  if client.stop and vim.fn.has("nvim-0.11") == 1 then
    client:stop(true)
  else
    vim.lsp.stop_client(id, true)
  end
  wait(function()
    return #diagnostics(function(one)
      return one.severity == severity.ERROR and one.source == "nvrtc"
    end) == 2
  end, "our errors again, when clangd has gone")
end

local function run()
  write("upskilld.yaml", { "defines: {BLOCK: 64}" })
  vim.opt.runtimepath:prepend(here .. "/../../clients/neovim")
  vim.cmd("filetype on")
  vim.o.hidden, vim.o.swapfile = true, false
  require("upskilld").setup({ cmd = { os.getenv("UPSKILLD") }, defines = { TILE = 8 }, root_markers = { "upskilld.yaml" } })
  vim.cmd("runtime plugin/upskilld.lua")
  starts_with_a_file()
  takes_flags_of_the_project_and_of_settings()
  shows_lenses()
  lists_the_compilers_facts()
  validates()
  begins_a_check_spec()
  is_healthy()
  restarts()
  if vim.fn.executable("clangd") == 1 then
    says_once_what_clangd_says_too()
  end
end

local good, sentence = pcall(run)
leave(good and 0 or 1, good and "ok" or tostring(sentence))
