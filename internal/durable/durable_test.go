package durable

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// Who reads a file beside its replacement gets one of both whole, and a failed one leaves no trace.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings")
	put := func(text string, broken error) error {
		return Replace(path, func(f *os.File) error {
			_, err := f.WriteString(text)
			return errors.Join(err, broken)
		})
	}
	broken := errors.New("no more")
	for _, step := range []struct {
		text, want string
		broken     error
	}{{"peas", "peas", nil}, {"beans", "peas", broken}, {"leeks", "leeks", nil}} {
		if err := put(step.text, step.broken); !errors.Is(err, step.broken) {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("%q, %v; want %q", got, err, step.want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v", left, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestMakeDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	for range 2 {
		testkit.NoError(t, MakeDir(dir))
	}
	if err := Sync(dir); err != nil {
		t.Error(err)
	}
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	if err := MakeDir(filepath.Join(dir, "file", "below")); err == nil {
		t.Error("there is a folder below a file")
	}
}

// The clock of a folder leaves nothing in it.
func TestClock(t *testing.T) {
	dir := t.TempDir()
	now, err := Clock(dir)
	if err != nil || time.Since(now).Abs() > time.Hour {
		t.Errorf("%v, %v", now, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// A file that is written in pieces has all of them, also those that were handed to the disk meanwhile, and an
// error of the file is the writer's.
func TestWriter(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "large"))
	testkit.NoError(t, err)
	want := make([]byte, 3*maxBehind+1)
	rand.NewChaCha8([32]byte{3}).Read(want)
	w := NewWriter(f)
	for rest := want; len(rest) > 0; {
		n, err := w.Write(rest[:min(len(rest), 1<<20+1)])
		testkit.NoError(t, err)
		rest = rest[n:]
	}
	if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if w.begun < 2*maxBehind {
		t.Errorf("the disk was given %d bytes", w.begun)
	}
	f.Close()
	if _, err := w.Write(want[:1]); !errors.Is(err, os.ErrClosed) {
		t.Errorf("written to a closed file: %v", err)
	}
}
