/* cublasLt.h where the toolkit has none: handles alone (cublas_v2.h beside it says more). */
#ifndef CUBLAS_LT_H_
#define CUBLAS_LT_H_
#include "cublas_v2.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct cublasLtContext *cublasLtHandle_t;
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
#ifdef __cplusplus
}
#endif
#endif
