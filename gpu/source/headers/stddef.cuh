// NULL, size_t and wchar_t are NVRTC's own; __INTADDR__ is its front end's offsetof.
#ifndef UPSKILLD_SHIM_STDDEF
#define UPSKILLD_SHIM_STDDEF
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
#ifdef offsetof
#undef offsetof
#endif
#define offsetof(type, member) ((size_t)__INTADDR__(&(((type *)0)->member)))
#endif
