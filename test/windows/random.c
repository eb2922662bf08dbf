// Wine 8 has no bcryptprimitives.dll, whose one function native modules call for random bytes: this one asks bcrypt.dll for them.
#include <windows.h>
#include <bcrypt.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PUCHAR bytes, SIZE_T length)
{
    return BCryptGenRandom(NULL, bytes, (ULONG)length, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}
