package process

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Confine puts a process that was started just now, and has started none, into
// a cage. A limit of its data, not of its addresses: packs that it maps are
// larger than both. Nothing of it is left on disk when it ends by a limit.
func Confine(pid int, c Cage) error {
	err := setLimit(pid, unix.RLIMIT_DATA, uint64(c.Memory), 0)
	err = errors.Join(err, setLimit(pid, unix.RLIMIT_CORE, 0, 0))
	if c.CPU > 0 {
		err = errors.Join(err, confineCPU(pid, c.CPU))
	}
	return err
}

// confineCPU bounds the processor time of a process, including the time it has used.
func confineCPU(pid int, limit time.Duration) error {
	// The first signal says why; the kernel kills a process that ignores it.
	return setLimit(pid, unix.RLIMIT_CPU, uint64((limit+time.Second-1)/time.Second), 5)
}

func setLimit(pid, which int, soft, grace uint64) error {
	err := unix.Prlimit(pid, which, &unix.Rlimit{Cur: soft, Max: soft + grace}, nil)
	if errors.Is(err, unix.ESRCH) {
		return nil // it has ended
	}
	return err
}
