#!/usr/bin/env python3
"""Compare gpu/driver/cuda_api.h with the real cuda.h: constants, layouts, prototypes, codes' names.

usage: cuda_abi.py ROOT CC...

Skipped (77) where no cuda.h of CUDA 12 or newer is found: $CUDA_HOME, what ./setup installed, /usr/local/cuda."""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT, CC = sys.argv[1], sys.argv[2:]

# Ours -> cuda.h's, where the name does not follow from ours.
CONSTANTS = {
    "CUDA_DEVICE_MAX_THREADS_PER_BLOCK": "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK",
    "CUDA_DEVICE_MAX_BLOCK_X": "CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X",
    "CUDA_DEVICE_MAX_BLOCK_X + 2": "CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z",
    "CUDA_DEVICE_MAX_GRID_X": "CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X",
    "CUDA_DEVICE_MAX_GRID_X + 2": "CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z",
    "CUDA_DEVICE_SHARED_BYTES": "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK",
    "CUDA_DEVICE_CLOCK_KHZ": "CU_DEVICE_ATTRIBUTE_CLOCK_RATE",
    "CUDA_DEVICE_SM_COUNT": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
    "CUDA_DEVICE_INTEGRATED": "CU_DEVICE_ATTRIBUTE_INTEGRATED",
    "CUDA_DEVICE_COMPUTE_MODE": "CU_DEVICE_ATTRIBUTE_COMPUTE_MODE",
    "CUDA_DEVICE_ECC": "CU_DEVICE_ATTRIBUTE_ECC_ENABLED",
    "CUDA_DEVICE_MEMORY_CLOCK_KHZ": "CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE",
    "CUDA_DEVICE_MEMORY_BUS_BITS": "CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH",
    "CUDA_DEVICE_L2_BYTES": "CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE",
    "CUDA_DEVICE_CAPABILITY_MAJOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
    "CUDA_DEVICE_CAPABILITY_MINOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    "CUDA_DEVICE_COOPERATIVE_LAUNCH": "CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH",
    "CUDA_DEVICE_SHARED_OPTIN_BYTES": "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "CUDA_DEVICE_MAX_PERSISTING_L2_BYTES": "CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE",
    "CUDA_DEVICE_CLUSTER_LAUNCH": "CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH",
    "CUDA_FUNCTION_MAX_THREADS": "CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK",
    "CUDA_FUNCTION_STATIC_SHARED_BYTES": "CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES",
    "CUDA_FUNCTION_LOCAL_BYTES": "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES",
    "CUDA_FUNCTION_REGISTERS": "CU_FUNC_ATTRIBUTE_NUM_REGS",
    "CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES": "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "CUDA_FUNCTION_NON_PORTABLE_CLUSTER": "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED",
    "CUDA_LIMIT_STACK_BYTES": "CU_LIMIT_STACK_SIZE",
    "CUDA_LIMIT_PRINTF_BYTES": "CU_LIMIT_PRINTF_FIFO_SIZE",
    "CUDA_LIMIT_HEAP_BYTES": "CU_LIMIT_MALLOC_HEAP_SIZE",
    "CUDA_JIT_INFO_LOG": "CU_JIT_INFO_LOG_BUFFER",
    "CUDA_JIT_INFO_LOG_BYTES": "CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES",
    "CUDA_JIT_ERROR_LOG": "CU_JIT_ERROR_LOG_BUFFER",
    "CUDA_JIT_ERROR_LOG_BYTES": "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES",
    "CUDA_JIT_LINE_INFO": "CU_JIT_GENERATE_LINE_INFO",
    "CUDA_CONTEXT_SCHED_SPIN": "CU_CTX_SCHED_SPIN",
    "CUDA_CONTEXT_SCHED_YIELD": "CU_CTX_SCHED_YIELD",
    "CUDA_CONTEXT_SCHED_BLOCKING": "CU_CTX_SCHED_BLOCKING_SYNC",
    "CUDA_STREAM_NON_BLOCKING": "CU_STREAM_NON_BLOCKING",
    "CUDA_CAPTURE_THREAD_LOCAL": "CU_STREAM_CAPTURE_MODE_THREAD_LOCAL",
    "CUDA_LAUNCH_COOPERATIVE": "CU_LAUNCH_ATTRIBUTE_COOPERATIVE",
    "CUDA_LAUNCH_CLUSTER": "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
    "CUDA_SWIZZLE_NONE": "CU_TENSOR_MAP_SWIZZLE_NONE",
    "CUDA_SWIZZLE_32B": "CU_TENSOR_MAP_SWIZZLE_32B",
    "CUDA_SWIZZLE_64B": "CU_TENSOR_MAP_SWIZZLE_64B",
    "CUDA_SWIZZLE_128B": "CU_TENSOR_MAP_SWIZZLE_128B",
    "CUDA_OK": "CUDA_SUCCESS",
    "CUDA_ARRAY_UINT8": "CU_AD_FORMAT_UNSIGNED_INT8",
    "CUDA_ARRAY_UINT16": "CU_AD_FORMAT_UNSIGNED_INT16",
    "CUDA_ARRAY_UINT32": "CU_AD_FORMAT_UNSIGNED_INT32",
    "CUDA_ARRAY_INT8": "CU_AD_FORMAT_SIGNED_INT8",
    "CUDA_ARRAY_INT16": "CU_AD_FORMAT_SIGNED_INT16",
    "CUDA_ARRAY_INT32": "CU_AD_FORMAT_SIGNED_INT32",
    "CUDA_ARRAY_LAYERED": "CUDA_ARRAY3D_LAYERED",
    "CUDA_ARRAY_SURFACE": "CUDA_ARRAY3D_SURFACE_LDST",
    "CUDA_ARRAY_GATHER": "CUDA_ARRAY3D_TEXTURE_GATHER",
    "CUDA_ARRAY_CUBEMAP": "CUDA_ARRAY3D_CUBEMAP",
    "CUDA_ARRAY_HALF": "CU_AD_FORMAT_HALF",
    "CUDA_ARRAY_FLOAT": "CU_AD_FORMAT_FLOAT",
    "CUDA_MEMORYTYPE_DEVICE": "CU_MEMORYTYPE_DEVICE",
    "CUDA_MEMORYTYPE_ARRAY": "CU_MEMORYTYPE_ARRAY",
    "CUDA_RESOURCE_ARRAY": "CU_RESOURCE_TYPE_ARRAY",
    "CUDA_RESOURCE_LINEAR": "CU_RESOURCE_TYPE_LINEAR",
    "CUDA_TEXTURE_READ_AS_INTEGER": "CU_TRSF_READ_AS_INTEGER",
    "CUDA_TEXTURE_NORMALIZED_COORDINATES": "CU_TRSF_NORMALIZED_COORDINATES",
    "CUDA_TEXTURE_SEAMLESS_CUBEMAP": "CU_TRSF_SEAMLESS_CUBEMAP",
}
PREFIXES = {"CUDA_TENSOR_": "CU_TENSOR_MAP_DATA_TYPE_", "CUDA_": "CUDA_ERROR_"}

STRUCTS = """
_Static_assert(sizeof(struct cuda_uuid) == sizeof(CUuuid), "uuid");
_Static_assert(sizeof(cuda_address) == sizeof(CUdeviceptr), "address");
_Static_assert(sizeof(int) == sizeof(CUresult) && sizeof(int) == sizeof(CUdevice), "int");
_Static_assert(sizeof(struct cuda_launch_attribute) == sizeof(CUlaunchAttribute), "attribute");
_Static_assert(offsetof(struct cuda_launch_attribute, value) == offsetof(CUlaunchAttribute, value), "value");
_Static_assert(offsetof(struct cuda_launch_attribute, value.cluster) == offsetof(CUlaunchAttribute, value.clusterDim), "cluster");
_Static_assert(offsetof(struct cuda_launch_attribute, value.cluster.z) == offsetof(CUlaunchAttribute, value.clusterDim.z), "z");
_Static_assert(offsetof(struct cuda_launch_attribute, value.cooperative) == offsetof(CUlaunchAttribute, value.cooperative), "cooperative");
_Static_assert(sizeof(struct cuda_launch) == sizeof(CUlaunchConfig), "launch");
_Static_assert(offsetof(struct cuda_launch, grid) == offsetof(CUlaunchConfig, gridDimX), "grid");
_Static_assert(offsetof(struct cuda_launch, block) == offsetof(CUlaunchConfig, blockDimX), "block");
_Static_assert(offsetof(struct cuda_launch, block[2]) == offsetof(CUlaunchConfig, blockDimZ), "block z");
_Static_assert(offsetof(struct cuda_launch, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes), "shared");
_Static_assert(offsetof(struct cuda_launch, stream) == offsetof(CUlaunchConfig, hStream), "stream");
_Static_assert(offsetof(struct cuda_launch, attributes) == offsetof(CUlaunchConfig, attrs), "attributes");
_Static_assert(offsetof(struct cuda_launch, attribute_count) == offsetof(CUlaunchConfig, numAttrs), "count");
_Static_assert(sizeof(CUtensorMap) == CUDA_TENSOR_MAP_BYTES, "tensor map");
_Static_assert(_Alignof(CUtensorMap) <= CUDA_TENSOR_MAP_ALIGN, "tensor map's alignment");
#define SAME(ours, member, theirs, its) _Static_assert(offsetof(struct ours, member) == offsetof(theirs, its) && \\
    sizeof(((struct ours *)0)->member) == sizeof(((theirs *)0)->its), #its)
_Static_assert(sizeof(struct cuda_array_shape) == sizeof(CUDA_ARRAY3D_DESCRIPTOR), "array");
SAME(cuda_array_shape, width, CUDA_ARRAY3D_DESCRIPTOR, Width);
SAME(cuda_array_shape, height, CUDA_ARRAY3D_DESCRIPTOR, Height);
SAME(cuda_array_shape, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth);
SAME(cuda_array_shape, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
SAME(cuda_array_shape, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
SAME(cuda_array_shape, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
_Static_assert(sizeof(struct cuda_box_copy) == sizeof(CUDA_MEMCPY3D), "box");
SAME(cuda_box_copy, from.x_bytes, CUDA_MEMCPY3D, srcXInBytes);
SAME(cuda_box_copy, from.y, CUDA_MEMCPY3D, srcY);
SAME(cuda_box_copy, from.z, CUDA_MEMCPY3D, srcZ);
SAME(cuda_box_copy, from.level, CUDA_MEMCPY3D, srcLOD);
SAME(cuda_box_copy, from.type, CUDA_MEMCPY3D, srcMemoryType);
SAME(cuda_box_copy, from.host, CUDA_MEMCPY3D, srcHost);
SAME(cuda_box_copy, from.device, CUDA_MEMCPY3D, srcDevice);
SAME(cuda_box_copy, from.array, CUDA_MEMCPY3D, srcArray);
SAME(cuda_box_copy, from.reserved, CUDA_MEMCPY3D, reserved0);
SAME(cuda_box_copy, from.pitch, CUDA_MEMCPY3D, srcPitch);
SAME(cuda_box_copy, from.height, CUDA_MEMCPY3D, srcHeight);
SAME(cuda_box_copy, to.x_bytes, CUDA_MEMCPY3D, dstXInBytes);
SAME(cuda_box_copy, to.y, CUDA_MEMCPY3D, dstY);
SAME(cuda_box_copy, to.z, CUDA_MEMCPY3D, dstZ);
SAME(cuda_box_copy, to.level, CUDA_MEMCPY3D, dstLOD);
SAME(cuda_box_copy, to.type, CUDA_MEMCPY3D, dstMemoryType);
SAME(cuda_box_copy, to.host, CUDA_MEMCPY3D, dstHost);
SAME(cuda_box_copy, to.device, CUDA_MEMCPY3D, dstDevice);
SAME(cuda_box_copy, to.array, CUDA_MEMCPY3D, dstArray);
SAME(cuda_box_copy, to.reserved, CUDA_MEMCPY3D, reserved1);
SAME(cuda_box_copy, to.pitch, CUDA_MEMCPY3D, dstPitch);
SAME(cuda_box_copy, to.height, CUDA_MEMCPY3D, dstHeight);
SAME(cuda_box_copy, width_bytes, CUDA_MEMCPY3D, WidthInBytes);
SAME(cuda_box_copy, height, CUDA_MEMCPY3D, Height);
SAME(cuda_box_copy, depth, CUDA_MEMCPY3D, Depth);
_Static_assert(sizeof(struct cuda_resource) == sizeof(CUDA_RESOURCE_DESC), "resource");
SAME(cuda_resource, type, CUDA_RESOURCE_DESC, resType);
SAME(cuda_resource, of, CUDA_RESOURCE_DESC, res);
SAME(cuda_resource, of.array, CUDA_RESOURCE_DESC, res.array.hArray);
SAME(cuda_resource, of.linear.address, CUDA_RESOURCE_DESC, res.linear.devPtr);
SAME(cuda_resource, of.linear.format, CUDA_RESOURCE_DESC, res.linear.format);
SAME(cuda_resource, of.linear.channels, CUDA_RESOURCE_DESC, res.linear.numChannels);
SAME(cuda_resource, of.linear.bytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
SAME(cuda_resource, flags, CUDA_RESOURCE_DESC, flags);
_Static_assert(sizeof(struct cuda_texture_modes) == sizeof(CUDA_TEXTURE_DESC), "texture");
SAME(cuda_texture_modes, address, CUDA_TEXTURE_DESC, addressMode);
SAME(cuda_texture_modes, filter, CUDA_TEXTURE_DESC, filterMode);
SAME(cuda_texture_modes, flags, CUDA_TEXTURE_DESC, flags);
SAME(cuda_texture_modes, anisotropy, CUDA_TEXTURE_DESC, maxAnisotropy);
SAME(cuda_texture_modes, mipmap_filter, CUDA_TEXTURE_DESC, mipmapFilterMode);
SAME(cuda_texture_modes, mipmap_bias, CUDA_TEXTURE_DESC, mipmapLevelBias);
SAME(cuda_texture_modes, mipmap_first, CUDA_TEXTURE_DESC, minMipmapLevelClamp);
SAME(cuda_texture_modes, mipmap_last, CUDA_TEXTURE_DESC, maxMipmapLevelClamp);
SAME(cuda_texture_modes, border, CUDA_TEXTURE_DESC, borderColor);
SAME(cuda_texture_modes, reserved, CUDA_TEXTURE_DESC, reserved);
_Static_assert(sizeof(cuda_texture) == sizeof(CUtexObject) && sizeof(cuda_surface) == sizeof(CUsurfObject), "objects");
_Static_assert(CU_TR_ADDRESS_MODE_WRAP == 0 && CU_TR_ADDRESS_MODE_CLAMP == 1 && CU_TR_ADDRESS_MODE_MIRROR == 2 &&
    CU_TR_ADDRESS_MODE_BORDER == 3 && CU_TR_FILTER_MODE_POINT == 0 && CU_TR_FILTER_MODE_LINEAR == 1, "modes");
_Static_assert(CU_LAUNCH_PARAM_END_AS_INT == 0 && CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT == 1 && CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT == 2, "extra");
"""


def cuda_include():
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    places = [os.environ.get("CUDA_HOME", "") + "/include", os.environ.get("UPSKILLD_CUDA", "") + "/include"]
    places += sorted(glob.glob(home + "/upskilld/cuda/nvidia/*/include"), reverse=True)
    places += ["/usr/local/cuda/include", "/usr/lib/cuda/include", "/usr/include"]
    for place in places:
        path = place + "/cuda.h"
        if os.path.isfile(path):
            with open(path) as f:
                version = re.search(r"#define CUDA_VERSION (\d+)", f.read())
            if version and int(version[1]) >= 12000:
                return place, int(version[1])
    print("SKIPPED: no cuda.h of CUDA 12 or newer; run ./setup")
    sys.exit(77)


def read(path):
    with open(path) as f:
        return f.read()


def our_constants(text):
    """Every enumerator of cuda_api.h: none is left out of the comparison."""
    names = []
    for body in re.findall(r"enum \w+ \{(.*?)\}", text, re.S):
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        names += re.findall(r"\b(CUDA_\w+)", body)
    return names


def theirs(name):
    if name in CONSTANTS:
        return CONSTANTS[name]
    for ours, prefix in PREFIXES.items():
        if name.startswith(ours):
            return prefix + name[len(ours):]
    raise SystemExit("no idea what cuda.h calls " + name)


def kind(parameter, typedefs):
    """A parameter's class as the calling convention sees it."""
    p = re.sub(r"\b(const|struct|enum|__attribute__\s*\(\(.*?\)\))\b", " ", parameter)
    p = re.sub(r"\s+", " ", p).strip()
    if "*" in p or "[" in p:
        return "pointer"
    words = p.split()
    plain = {"int": "i32", "unsigned": "i32", "size_t": "i64", "uint64_t": "i64", "cuuint64_t": "i64",
             "cuda_address": "i64", "cuda_texture": "i64", "cuda_surface": "i64", "float": "float", "char": "i8"}
    if words[:1] == ["unsigned"]:
        return {"long": "i64", "char": "i8"}.get(words[1] if len(words) > 1 else "", "i32")
    first = words[0]
    if first in plain:
        return plain[first]
    if first.endswith("_ref"):
        return "pointer"
    if first in typedefs:
        return kind(typedefs[first], typedefs)
    raise SystemExit(f"what is a {parameter!r}?")


def typedefs_of(source):
    """name -> what it stands for, of cuda.h as the preprocessor leaves it."""
    found = {}
    for body, name in re.findall(r"typedef\s+([^;{}]+?)\s*\b(\w+)\s*;", source):
        found[name] = body if "*" in body else body
    for name in re.findall(r"typedef\s+enum\s+\w*\s*\{[^}]*\}\s*(\w+)\s*;", source):
        found[name] = "int"
    for name in re.findall(r"\benum\s+(\w+)\s*\{", source):
        found.setdefault(name, "int")
    for name in re.findall(r"typedef\s+enum\s+(\w+)\s+\w+\s*;", source):
        found[name] = "int"
    for tag, name in re.findall(r"typedef\s+enum\s+(\w+)\s+(\w+)\s*;", source):
        found[name] = "int"
    return found


def split(parameters):
    parameters = parameters.strip()
    return [] if parameters in ("", "void") else parameters.split(",")


def check_prototypes(source):
    typedefs = typedefs_of(source)
    wrong, seen = [], 0
    table = read(ROOT + "/gpu/driver/cuda_functions.def")
    for member, symbol, args in re.findall(r"CUDA_FUNCTION\((\w+), (\w+), \w+, \(([^()]*)\)\)", table):
        declared = re.search(r"CUresult\s+(?:\w+\s+)*" + symbol + r"\s*\(([^()]*)\)", source)
        if not declared:
            wrong.append(f"{symbol} is not declared")
            continue
        ours = [kind(p, typedefs) for p in split(args)]
        real = [kind(p, typedefs) for p in split(declared[1])]
        seen += 1
        if ours != real:
            wrong.append(f"{member}: {ours}, {symbol}: {real}")
    assert seen == table.count("\nCUDA_FUNCTION("), "an entry of the table was not read"
    return wrong, seen


def sticky(header):
    """What cuda.h says of: the process must be ended. It says nothing of the driver's own list's rest."""
    found = []
    for words, name in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*(CUDA_ERROR_\w+)\s*=", header, re.S):
        if "inconsistent state" in " ".join(words.replace("*", " ").split()):
            found.append(name)
    return found


def program(header):
    api = read(ROOT + "/gpu/driver/cuda_api.h")
    lines = ["#include <cuda.h>", '#include "gpu/driver/cuda_api.h"', "#include <stddef.h>", "#include <stdio.h>",
             "#include <string.h>", STRUCTS]
    names = our_constants(api)
    assert len(names) > 80, names
    for name in names + [n for n in CONSTANTS if " " in n]:
        if not re.search(r"\b" + theirs(name) + r"\b", header):
            continue  # of a newer cuda.h than this one
        lines.append(f'_Static_assert({name} == (int){theirs(name)}, "{name}");')
    codes = re.findall(r"^    (CUDA_(?:SUCCESS|ERROR\w*))\s*=\s*\d+", header, re.M)
    assert len(codes) > 90, codes
    lines += ["int main(void) { int wrong = 0;"]
    lines += [f'if (strcmp(cuda_code_name({c}), "{c}")) {{ puts("name of {c}"); wrong = 1; }}' for c in codes]
    lines += [f'if (!cuda_code_is_sticky({c})) {{ puts("{c} is sticky"); wrong = 1; }}' for c in sticky(header)]
    lines += ["return wrong; }"]
    return "\n".join(lines), len(names), len(codes)


def main():
    include, version = cuda_include()
    header = read(include + "/cuda.h")
    text, constants, codes = program(header)
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/abi.c"
        with open(path, "w") as f:
            f.write(text)
        os.mkdir(folder + "/gpu")
        subprocess.run([sys.executable, ROOT + "/base/tables.py", ROOT + "/gpu/driver/cuda_codes.txt",
                        folder + "/gpu/cuda_codes_table.h"], check=True)
        flags = ["-std=gnu17", "-w", "-I" + ROOT, "-I" + folder, "-I" + include]
        subprocess.run(CC + flags + [path, ROOT + "/gpu/driver/cuda_codes.c", "-o", folder + "/abi"], check=True)
        named = subprocess.run([folder + "/abi"]).returncode
        # The versioned names, as the library exports them: cuda.h's macros are for programs that are linked.
        with open(folder + "/plain.c", "w") as f:
            f.write("#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n")
        source = subprocess.run(CC + ["-E", "-P", "-I" + include, folder + "/plain.c"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
    wrong, functions = check_prototypes(source)
    print(f"cuda.h {version}: {constants} constants, {codes} codes, {functions} functions")
    print("\n".join(wrong))
    sys.exit(1 if wrong or named else 0)


main()
