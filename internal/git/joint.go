package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Joint creates a repository with the objects of two others, to read commits of both together:
// a folder without objects of its own, below the first one's, where sweeping finds it
// after a crash. The others must stay open until release is called, exactly once.
// Do not write to it. A caller that names an object in it must check that the object may be seen.
func Joint(a, b *Repository) (r *Repository, release func(), err error) {
	dir, err := os.MkdirTemp(a.path("objects"), incomingPrefix)
	if err != nil {
		return nil, nil, err
	}
	r = &Repository{git: a.git, dir: dir, joins: []*Repository{a, b}}
	release = func() { a.git.Remove(dir, func() { _ = os.RemoveAll(dir) }) }
	var list strings.Builder
	for _, of := range r.joins {
		list.WriteString(alternate(of) + "\n")
	}
	for _, name := range folders() {
		err = errors.Join(err, os.MkdirAll(r.path(name), 0o700))
	}
	for name, text := range map[string]string{"objects/info/alternates": list.String(), "config": Config,
		"HEAD": "ref: refs/heads/main\n"} {
		err = errors.Join(err, os.WriteFile(r.path(filepath.FromSlash(name)), []byte(text), 0o600))
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return r, release, nil
}

// alternate is the folder of a repository's objects, as git reads it in a list of such folders.
func alternate(r *Repository) string {
	objects := r.path("objects")
	if strings.ContainsAny(objects, ":\"\\\n") {
		objects = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(objects) + `"`
	}
	return objects
}
