package depot

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// opened returns a depot that is bound to a store.
func opened(t testing.TB, address, store string) *Depot {
	t.Helper()
	d, err := Open(address, store, NewMetrics())
	testkit.NoError(t, err)
	testkit.NoError(t, d.Bind(t.Context()))
	return d
}

func put(t testing.TB, d *Depot, key, text string) {
	t.Helper()
	testkit.NoError(t, d.Put(t.Context(), key, strings.NewReader(text), int64(len(text))))
}

// get reads an object whole.
func get(t testing.TB, d *Depot, key string, size int64) (string, error) {
	t.Helper()
	in, err := d.Get(t.Context(), key, 0, size, size)
	if err != nil {
		return "", err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	return string(data), err
}

// behaves holds what every depot does: an operator can change from one to another.
func behaves(t *testing.T, address string) {
	ctx := t.Context()
	d := opened(t, address, "store-one")
	testkit.NoError(t, d.Bind(ctx)) // again
	put(t, d, "files/ab/one", "first")
	put(t, d, "files/ab/two", "second")
	put(t, d, "files/cd/three", strings.Repeat("x", 1<<20))
	if got, err := get(t, d, "files/ab/one", 5); got != "first" || err != nil {
		t.Errorf("an object is %q, %v", got, err)
	}
	in, err := d.Get(ctx, "files/ab/two", 2, 4, 6)
	testkit.NoError(t, err)
	part, err := io.ReadAll(in)
	if in.Close(); string(part) != "co" || err != nil {
		t.Errorf("a part is %q, %v", part, err)
	}
	if _, err := get(t, d, "files/ab/none", 5); !errors.Is(err, ErrMissing) {
		t.Errorf("an object that is not there: %v", err)
	}
	for _, size := range []int64{4, 6} { // it was cut or grew
		if _, err := get(t, d, "files/ab/one", size); !errors.Is(err, ErrDamaged) {
			t.Errorf("an object of another size than %d: %v", size, err)
		}
	}
	testkit.NoError(t, d.Copy(ctx, "files/ab/one", "files/ab/copy", 5))
	if err := d.Copy(ctx, "files/ab/none", "files/ab/x", 5); !errors.Is(err, ErrMissing) {
		t.Errorf("a copy of what is not there: %v", err)
	}
	testkit.NoError(t, d.Delete(ctx, []string{"files/ab/one", "files/ab/none"}))
	if got, err := get(t, d, "files/ab/copy", 5); got != "first" || err != nil {
		t.Errorf("a copy is %q, %v, after the first was removed", got, err)
	}
	var keys []string
	testkit.NoError(t, d.List(ctx, "files/ab/", func(e Entry) error {
		keys = append(keys, e.Key)
		if age := time.Since(e.Modified); age < -time.Minute || age > time.Hour {
			t.Errorf("%s is %s old", e.Key, age)
		}
		return nil
	}))
	slices.Sort(keys)
	if want := []string{"files/ab/copy", "files/ab/two"}; !slices.Equal(keys, want) {
		t.Errorf("the list is %v, want %v", keys, want)
	}
	if empty, err := d.Empty(ctx); empty || err != nil {
		t.Errorf("it is empty: %t, %v", empty, err)
	}
	stranger(t, address)
	testkit.NoError(t, d.Delete(ctx, []string{"files/ab/copy", "files/ab/two", "files/cd/three"}))
	if empty, err := d.Empty(ctx); !empty || err != nil {
		t.Errorf("it is empty: %t, %v", empty, err)
	}
	testkit.NoError(t, d.Release(ctx))
	opened(t, address, "store-two")
}

// stranger holds that another store neither binds nor uses the depot.
func stranger(t *testing.T, address string) {
	t.Helper()
	other, err := Open(address, "store-two", nil)
	testkit.NoError(t, err)
	var wrong *IdentityError
	if err := other.Bind(t.Context()); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "another store") {
		t.Errorf("another store binds it: %v", err)
	}
	if err := other.Put(t.Context(), "files/ab/x", strings.NewReader("x"), 1); !errors.As(err, &wrong) {
		t.Errorf("another store writes to it: %v", err)
	}
	if err := other.Delete(t.Context(), []string{"files/ab/two"}); !errors.As(err, &wrong) {
		t.Errorf("another store deletes in it: %v", err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	behaves(t, "file://"+t.TempDir())
}

// A folder with other things in it, and one that is not there, are not taken: perhaps a file system is not mounted.
func TestFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		if path == dir {
			testkit.NoError(t, os.WriteFile(filepath.Join(dir, "letter"), nil, 0o600))
		}
		d, err := Open("file://"+path, "store", nil)
		testkit.NoError(t, err)
		if err := d.Bind(t.Context()); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
}

// A data folder is no depot, though its identity file has the same name and id.
func TestDataFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, identityKey), []byte(`{"store":"store","database":""}`), 0o600))
	d, err := Open("file://"+dir, "store", nil)
	testkit.NoError(t, err)
	var wrong *IdentityError
	if err := d.Bind(t.Context()); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "data folder of a store") {
		t.Errorf("it is bound: %v", err)
	}
	if err := d.Delete(t.Context(), []string{"files/ab/x"}); !errors.As(err, &wrong) {
		t.Errorf("files are removed from it: %v", err)
	}
}

// A folder that is gone while a server runs takes nothing, since what lies beneath a mount point is not the depot.
func TestFolderThatIsGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "depot")
	testkit.NoError(t, os.Mkdir(dir, 0o700))
	d := opened(t, "file://"+dir, "store")
	testkit.NoError(t, os.Rename(dir, dir+"-away"))
	testkit.NoError(t, os.Mkdir(dir, 0o700))
	if err := d.Put(t.Context(), "files/ab/x", strings.NewReader("x"), 1); !errs.Is(err, errs.Unavailable) {
		t.Errorf("it takes a file: %v", err)
	}
	var wrong *IdentityError
	if err := d.Check(t.Context()); !errors.As(err, &wrong) {
		t.Errorf("it is found sound: %v", err)
	}
	testkit.NoError(t, os.Remove(dir))
	testkit.NoError(t, os.Rename(dir+"-away", dir))
	put(t, d, "files/ab/x", "x")
}

// A service that does not answer costs seconds, not minutes, and says when to try again.
func TestNobodyAnswers(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	d, err := Open("s3://bucket?endpoint=http://127.0.0.1:1&region=us-east-1", "store", nil)
	testkit.NoError(t, err)
	began := time.Now()
	err = d.Put(t.Context(), "files/ab/x", strings.NewReader("x"), 1)
	var failed *errs.Error
	if !errors.As(err, &failed) || failed.Kind != errs.Unavailable || failed.Wait != retryAfter {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(began); took > testkit.Patience {
		t.Errorf("it took %s", took)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"file:///srv/depot/":      "file:///srv/depot",
		"s3://bucket":             "s3://bucket/",
		"s3://bucket/a/b/":        "s3://bucket/a/b",
		"s3://b.c-d/a?region=x-1": "s3://b.c-d/a?region=x-1",
		"s3://bucket/?style=path&endpoint=https://s3.example.org/&sse=kms:key&redirect=true": "s3://bucket/?endpoint=" +
			"https%3A%2F%2Fs3.example.org&sse=kms%3Akey&style=path",
		"s3://bucket/?redirect=false": "s3://bucket/?redirect=false",
		"":                            "", "/srv/depot": "", "file://srv/depot": "", "file:///a?x=1": "", "s3://": "",
		"s3://key:secret@bucket/": "", "s3://Bucket": "", "s3://bucket/../x": "", "s3://bucket/a//b": "",
		"s3://bucket/?colour=red": "", "s3://bucket/?endpoint=ftp://x": "", "s3://bucket/?endpoint=https://a:b@x": "",
		"s3://bucket/?style=new": "", "s3://bucket/?region=a&region=b": "", "s3://bucket/?sse=kms:": "", "gs://bucket": "",
	} {
		got, err := Canonical(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%q: the error shows a key: %v", text, err)
		}
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("s3://bucket/a?endpoint=http://x:1&region=r&style=path&sse=s3&redirect=false")
	f.Add("file:///srv")
	f.Fuzz(func(t *testing.T, text string) {
		once, err := Canonical(text)
		if err != nil {
			return
		}
		if twice, err := Canonical(once); twice != once || err != nil {
			t.Errorf("%q becomes %q, and then %q, %v", text, once, twice, err)
		}
	})
}

func FuzzIdentity(f *testing.F) {
	f.Add([]byte(`{"store":"a"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if i, err := parseIdentity(data); err == nil && (i.Store == "" || !bytes.Contains(data, []byte("store"))) &&
			!bytes.Contains(bytes.ToLower(data), []byte("store")) {
			t.Errorf("%q names the store %q", data, i.Store)
		}
	})
}

func FuzzRange(f *testing.F) {
	f.Add("bytes 0-9/10", "10")
	f.Fuzz(func(t *testing.T, span, length string) {
		_, _, _ = rangeOf(map[string][]string{"Content-Range": {span}, "Content-Length": {length}})
	})
}
