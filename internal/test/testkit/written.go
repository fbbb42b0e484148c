package testkit

import (
	"os"
	"testing"
)

// Written demands that a file, which update rewrites, holds a text that is generated from the
// program itself. make says how it is written.
func Written(t testing.TB, file, text string, update bool, make string) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != text {
		t.Errorf("%s is not what the program says: run make %s\n%s", file, make, text)
	}
}
