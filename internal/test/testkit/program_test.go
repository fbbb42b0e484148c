package testkit_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"arbor/internal/test/testkit"
)

// A program runs however many other processes start while it is written.
func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	done := make(chan error)
	const writers = 8
	for w := range writers {
		go func() {
			var err error
			for n := 0; n < 50 && err == nil; n++ {
				path := filepath.Join(dir, strconv.Itoa(w*50+n))
				testkit.Program(t, path, "exit 0\n")
				err = exec.Command(path).Run()
			}
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
