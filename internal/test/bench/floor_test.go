//go:build long

package bench

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// floorSize is the environment variable that turns the test program into the baseline for reads: a server
// that only writes bytes from memory.
const floorSize = "ARBOR_BENCH_FLOOR_BYTES"

func TestMain(m *testing.M) {
	if size, err := strconv.Atoi(os.Getenv(floorSize)); err == nil {
		serveFloor(size)
	}
	os.Exit(m.Run())
}

// serveFloor answers everything with as many bytes, and ends with its input.
func serveFloor(size int) {
	body := []byte(strings.Repeat("x", size))
	length := strconv.Itoa(size)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + l.Addr().String())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", length)
		w.Write(body)
	})
	// Like any server that strangers reach, it does not wait for them forever.
	panic((&http.Server{Handler: handler, ReadTimeout: time.Minute, WriteTimeout: time.Minute}).Serve(l))
}

// startFloor starts a floor in a process of its own and gives its address.
func startFloor(b *testing.B, size int64) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", floorSize, size))
	in, err := cmd.StdinPipe()
	testkit.NoError(b, err)
	out, err := cmd.StdoutPipe()
	testkit.NoError(b, err)
	testkit.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	testkit.NoError(b, err)
	return strings.TrimSpace(line)
}
