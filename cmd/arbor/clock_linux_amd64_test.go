//go:build long

package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// canBend reports whether bendClock works here.
const canBend = true

// bendClock lets a test set this process's clock off by the seconds that it writes into the file of clockVariable: it
// leads the kernel's code for reading clocks, which each process has in memory, to code of its own. So the program that
// is tested has no such setting, and libfaketime is of no use, since Go does not ask the C library.
func bendClock() error {
	name := os.Getenv(clockVariable)
	if name == "" {
		return nil
	}
	os.Unsetenv(clockVariable)
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	offset, err := mapPage(0, unix.PROT_READ, unix.MAP_SHARED, int(f.Fd()))
	if err != nil {
		return err
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	at, err := vdsoFunction(mem, "__vdso_clock_gettime")
	if err != nil {
		return err
	}
	// Near enough for a jump of four bytes.
	code, err := mapPage((at-1<<24)&^(1<<12-1), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON, -1)
	if err == nil && (at-code > 1<<30 || at-code < -1<<30) {
		err = errors.New("there is no room near the vdso")
	}
	if err != nil {
		return err
	}
	text := []byte{0xb8, 228, 0, 0, 0, // mov eax, SYS_clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xff, 0x75, 16, // test edi, edi; jne: another clock than CLOCK_REALTIME
		0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, // mov rcx, offset
		0x48, 0x8b, 0x09, 0x48, 0x01, 0x0e, // mov rcx, [rcx]; add [rsi], rcx
		0xc3} // ret
	binary.LittleEndian.PutUint64(text[13:], uint64(offset))
	if _, err := mem.WriteAt(text, code); err != nil {
		return err
	}
	var jump [8]byte // written at once, since other threads read clocks
	if _, err = mem.ReadAt(jump[:], at); err != nil {
		return err
	}
	jump[0] = 0xe9
	binary.LittleEndian.PutUint32(jump[1:], uint32(code-at-5))
	_, err = mem.WriteAt(jump[:], at)
	return err
}

// mapPage maps a page of memory at an address, or near it, and returns where it is.
func mapPage(address int64, protection, flags, fd int) (int64, error) {
	at, _, problem := syscall.Syscall6(syscall.SYS_MMAP, uintptr(address), uintptr(os.Getpagesize()),
		uintptr(protection), uintptr(flags), uintptr(fd), 0)
	if problem != 0 {
		return 0, problem
	}
	return int64(at), nil
}

// vdsoFunction returns the address of a function that the kernel put into this process, whose memory is mem.
func vdsoFunction(mem io.ReaderAt, name string) (int64, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	var from, to int64
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(line, "[vdso]\n") {
			_, err = fmt.Sscanf(line, "%x-%x", &from, &to)
		}
	}
	if err != nil || from == 0 {
		return 0, errors.Join(err, errors.New("there is no vdso"))
	}
	image := make([]byte, to-from)
	if _, err := io.ReadFull(io.NewSectionReader(mem, from, to-from), image); err != nil {
		return 0, err
	}
	program, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, err
	}
	list, err := program.DynamicSymbols()
	for _, s := range list {
		if s.Name == name {
			return from + int64(s.Value), nil
		}
	}
	return 0, errors.Join(err, errors.New("the vdso has no "+name))
}
