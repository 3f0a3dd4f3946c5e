/*
 * Preloaded, steps the calendar clock of every process of a command, the engines and Python alike,
 * by so many seconds from the moment that a file is there. The monotonic clock is left alone, as it
 * is when somebody sets the time. The machine's own clock is not touched.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long step_s(void)
{
    const char *file = getenv("FAULT_CLOCK_FILE"), *step = getenv("FAULT_CLOCK_STEP_S");
    return file && step && access(file, F_OK) == 0 ? atol(step) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += step_s();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int result = (int)syscall(SYS_gettimeofday, now, zone);
    if (result == 0 && now)
        now->tv_sec += step_s();
    return result;
}

time_t time(time_t *kept)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kept)
        *kept = now.tv_sec;
    return now.tv_sec;
}
