#ifndef LARDER_CCRYPTO_SHIM_H
#define LARDER_CCRYPTO_SHIM_H

// The two functions of OpenSSL's libcrypto that signatures of S3's requests take.

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stddef.h>

/// Writes the SHA-256 of bytes, 32 of them; returns 0 if OpenSSL can't.
static inline int larder_sha256(const void *bytes, size_t count, unsigned char *digest) {
  return EVP_Digest(bytes, count, digest, 0, EVP_sha256(), 0) == 1;
}

/// Writes the HMAC with SHA-256 of bytes, 32 of them; returns 0 if OpenSSL can't.
static inline int larder_hmac_sha256(
  const void *key, size_t keyCount, const void *bytes, size_t count, unsigned char *digest) {
  return HMAC(EVP_sha256(), key, (int)keyCount, bytes, count, digest, 0) != 0;
}

#endif
