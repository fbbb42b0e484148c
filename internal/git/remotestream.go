package git

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"arbor/internal/git/process"
	"arbor/internal/git/wire"
)

// Stream is a conversation with one of Git's services on another server.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error // says that nothing more is written
}

// How long a conversation may be silent. While git computes what it pushes, both sides are.
const (
	silentFetch = time.Minute
	silentPush  = 10 * time.Minute
)

// attached is the address by which git talks through its file 3: see git-remote-fd(1).
const attached = "fd::3"

// attach connects to the service that a task needs, and gives git one end of a pair of sockets. So git reaches the other
// server through this process alone. end closes all of it; it is called once the task has ended.
func (m Remote) attach(ctx context.Context, t *process.Task, said io.Writer) (end func(), err error) {
	service, silent := wire.ServiceUploadPack, silentFetch
	if t.Sub == "push" {
		service, silent = wire.ServiceReceivePack, silentPush
	}
	stream, err := m.Connect(ctx, service, said)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	closeAll := sync.OnceFunc(func() {
		_ = stream.Close()
		_ = ours.Close()
	})
	timer := time.AfterFunc(silent, closeAll)
	var both sync.WaitGroup
	pump := func(to io.Writer, from io.Reader, done func() error) {
		both.Go(func() {
			_, err := io.Copy(to, &noted{Reader: from, timer: timer, silent: silent})
			if err != nil {
				closeAll()
				return
			}
			_ = done()
		})
	}
	pump(stream, ours, stream.CloseWrite)
	pump(ours, stream, ours.CloseWrite)
	t.Remote, t.Socket = attached, theirs
	return func() {
		timer.Stop()
		_ = theirs.Close()
		closeAll()
		both.Wait()
	}, nil
}

// noted is a reader that puts a timer off whenever bytes come.
type noted struct {
	io.Reader
	timer  *time.Timer
	silent time.Duration
}

func (n *noted) Read(p []byte) (int, error) {
	count, err := n.Reader.Read(p)
	if err == nil {
		n.timer.Reset(n.silent)
	}
	return count, err
}

// socketPair returns two sockets that are connected with each other, one of them for another process.
func socketPair() (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	own, theirs := os.NewFile(uintptr(pair[0]), "git"), os.NewFile(uintptr(pair[1]), "git")
	defer own.Close() // FileConn duplicates it
	c, err := net.FileConn(own)
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return c.(*net.UnixConn), theirs, nil
}
