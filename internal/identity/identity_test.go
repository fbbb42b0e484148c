package identity

import (
	"strings"
	"sync"
	"testing"
)

// The folder's file and the messages name a database, and never its password.
func TestAddressesWithoutSecrets(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://arbor:secret@db/arbor":                                      "postgres://arbor@db/arbor",
		"postgresql://arbor@db:5433/arbor?sslmode=verify-full":                  "postgresql://arbor@db:5433/arbor",
		"postgres://arbor:secret@a:1,b:2/arbor?target_session_attrs=read-write": "postgres://arbor@a:1,b:2/arbor",
		"postgres:///arbor?host=/run/postgresql&password=secret&search_path=x": "postgres:///arbor?" +
			"host=%2Frun%2Fpostgresql&search_path=x",
		"postgres://u:se/cr@et@db/arbor?%zz=secret&sslpassword=secret": "postgres://u@db/arbor",
	} {
		if got := withoutSecrets(url); got != want || strings.Contains(got, "secret") {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
	for path, want := range map[string]string{"/srv/arbor/arbor.db": "arbor.db", "/srv/arbor/sub/a.db": "sub/a.db",
		"/srv/other.db": "/srv/other.db", "/srv/arbor.db": "/srv/arbor.db"} {
		if got := (Store{"/srv/arbor", path}).address(); got != want {
			t.Errorf("%s has the address %s, want %s", path, got, want)
		}
	}
}

// Of many that bind a new folder at one time, one chooses the id.
func TestOneMakesTheFile(t *testing.T) {
	t.Parallel()
	s := Store{t.TempDir(), "arbor.db"}
	var all sync.WaitGroup
	var made [16]string
	for i := range made {
		all.Go(func() {
			f, err := s.makeFile()
			if err != nil {
				t.Error(err)
				return
			}
			made[i] = f.Store
		})
	}
	all.Wait()
	for _, id := range made {
		if id != made[0] {
			t.Fatalf("the ids are %q", made)
		}
	}
}
