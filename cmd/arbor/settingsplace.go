package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/alecthomas/kong"
)

// Where settings are found without --config.
const (
	systemSettings = "/etc/arbor/arbor.yaml" // of the server that runs as a service, see deploy/arbor.service
	folderSettings = "arbor.yaml"            // in a data folder
)

// find reads the settings of the command that c has parsed: of the file that --config names, or else of the
// system's file and then of the one in the data folder. What the first of these says counts. The system's file
// is for its own data folder alone, if it names one. Commands without a store read neither.
func (s *settingsFile) find(c *kong.Context) (map[string]string, error) {
	if file := configFile(c); file != "" {
		values, err := s.load(file)
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("--config: %w", err)
		}
		return values, err
	}
	data, given, ok := dataFolder(c)
	if !ok {
		return nil, nil
	}
	values, err := s.ofSystem(data, given)
	if err != nil {
		return nil, err
	}
	if folder := values["data"]; folder != "" && !given {
		data = folder
	}
	own, err := s.ofFolder(data)
	if err != nil {
		return nil, err
	}
	maps.Copy(own, values)
	return own, nil
}

// ofSystem reads the system's file, unless it is another data folder's.
func (s *settingsFile) ofSystem(data string, given bool) (map[string]string, error) {
	if s.system == "" {
		return nil, nil
	}
	values, err := s.load(s.system)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrPermission) && given: // it may be another folder's; if not, that cannot be opened either
		return nil, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: run this as the server's user, or name another folder with --data", err)
	case err == nil && given && values["data"] != "" && !sameFolder(data, values["data"]):
		return nil, nil
	}
	return values, err
}

// ofFolder reads the file of a data folder, which must be this user's: the file decides what this process does.
func (s *settingsFile) ofFolder(data string) (map[string]string, error) {
	file := filepath.Join(data, folderSettings)
	if refuseOwner(data) != nil {
		return map[string]string{}, nil // the command will be refused
	}
	values, err := s.load(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return map[string]string{}, nil
	}
	if err == nil && values["data"] != "" && !sameFolder(data, values["data"]) {
		err = fmt.Errorf("%s: data: it names another folder than the one that the file is in", file)
	}
	delete(values, "data")
	return values, err
}

// dataFolder is the data folder that the command line, the environment or the default names, and whether one of
// the first two does. ok is false for commands without one, and for a server on a temporary folder.
func dataFolder(c *kong.Context) (folder string, given, ok bool) {
	for _, f := range c.Flags() {
		switch value := c.FlagValue(f).(type) {
		case string:
			if f.Name == "data" {
				folder, given, ok = value, isGiven(c, f), true
			}
		case bool:
			if f.Name == "ephemeral" && value {
				return "", false, false
			}
		}
	}
	return folder, given, ok
}

// isGiven reports whether the command line or the environment sets a flag.
func isGiven(c *kong.Context, f *kong.Flag) bool {
	return slices.ContainsFunc(c.Path, func(p *kong.Path) bool { return p.Flag == f }) ||
		slices.ContainsFunc(f.Envs, func(name string) bool { _, set := os.LookupEnv(name); return set })
}

// sameFolder reports whether two paths lead to one folder, which may not be there yet.
func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	a, errA = filepath.Abs(a)
	b, errB = filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// refuseOwner returns an error if a folder belongs to another user than the one that this process runs as: what
// it made there, that user's server could not write.
func refuseOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil // whether it should be there, others say
	}
	owner, known := ownerOf(info)
	if !known || owner == os.Geteuid() {
		return nil
	}
	name, as := userName(owner), userName(owner)
	if as == "" {
		name, as = fmt.Sprintf("user %d", owner), fmt.Sprintf("'#%d'", owner)
	}
	me := cmp.Or(userName(os.Geteuid()), "user "+strconv.Itoa(os.Geteuid()))
	if path, err := filepath.Abs(dir); err == nil {
		dir = path
	}
	return fmt.Errorf("%s belongs to %s, and this runs as %s: run it as its owner (sudo -u %s arbor ...)", dir, name,
		me, as)
}
