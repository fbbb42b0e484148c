//go:build !long

package testenv

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// go test shows nothing of what a test prints that passes, so this writes to the standard error of the go
// command itself, where Linux lets it.
func TestWhatIsLeftOutIsSaid(t *testing.T) {
	parent := os.Getppid()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err != nil || strings.TrimSpace(string(name)) != "go" {
		t.Skip("no go command runs this test, or this is not Linux")
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", parent), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() { // go would write over it
		t.Skip("standard error is a file")
	}
	_, errWrite := fmt.Fprintln(f, "Left out: PostgreSQL where it runs the same code, browsers, kills, sieges, large "+
		"packs, programs of others. `make test-all` runs them.")
	if err = errors.Join(err, errWrite); err != nil {
		t.Error(err)
	}
}
