package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"arbor/internal/durable"
	"arbor/internal/repo"
)

// Space that is too little: below the first there may soon be none, below the second a push
// may fail.
const (
	littleSpace = 5 << 30
	noSpace     = 256 << 20
)

// folder looks at the data folder. It reports whether there is one.
func (d *doctor) folder() bool {
	info, err := os.Stat(d.Folder)
	if err != nil {
		d.failed("data folder", "it cannot be found", "use the --data or ARBOR_DATA of the server", err)
		return false
	}
	mode := info.Mode().Perm()
	if mode&0o077 != 0 {
		d.add("data folder", Warn, fmt.Sprintf("mode %o", mode),
			"others on this machine could read it: the next start closes it")
	} else {
		d.add("data folder", OK, fmt.Sprintf("mode %o", mode), "")
	}
	probe, err := os.CreateTemp(d.Folder, ".doctor-*")
	if err != nil {
		d.failed("writing", "the data folder cannot be written",
			"let the account that runs this, and the server, write there", err)
	} else {
		probe.Close()
		os.Remove(probe.Name())
	}
	d.repositories()
	for _, part := range []struct{ name, dir string }{{"space", d.Folder},
		{"space of repositories", filepath.Join(d.Folder, "repositories")}} {
		kind, free, all, err := fileSystem(part.dir)
		if err != nil {
			continue // a store without repositories has no such folder
		}
		found := fmt.Sprintf("%s, %d of %d GiB free", kind, free>>30, all>>30)
		switch {
		case free < noSpace:
			d.add(part.name, Fail, found, "make room now: pushes and backups fail without")
		case free < littleSpace:
			d.add(part.name, Warn, found, "make room")
		case kind == "tmpfs":
			d.add(part.name, Warn, found, "its contents are lost when the machine restarts")
		default:
			d.add(part.name, OK, found, "")
		}
	}
	return true
}

// repositories tries whether the folders of repositories can be written: a command that another user ran, root
// as a rule, may have made some of them.
func (d *doctor) repositories() {
	dir := filepath.Join(d.Folder, "repositories")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return // the first repository makes it
	}
	if err == nil {
		err = durable.Try(dir)
	}
	for _, e := range entries {
		if err == nil && repo.IsShard(e.Name()) {
			err = durable.Try(filepath.Join(dir, e.Name()))
		}
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		d.failed("writing repositories", "pushes cannot write",
			"give all of the data folder to the server's account (chown -R), and run commands as it", err)
	}
}
