package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MirrorRemote is Mirror for a source whose address a user gave: git connects to pinned addresses alone, knows nothing
// of the operator's configuration, and what it fetches has the bounds of a push. most bounds the number of refs.
// Errors: *RemoteError, TooLarge.
func (g *Git) MirrorRemote(ctx context.Context, from Remote, parent string, most int) (*Mirror, error) {
	dir, err := os.MkdirTemp(parent, mirrorPrefix)
	if err != nil {
		return nil, err
	}
	m := &Mirror{git: g, dir: dir}
	if err := m.fetch(ctx, from, most); err != nil {
		return nil, errors.Join(err, m.Remove())
	}
	return m, nil
}

// fetch fills the mirror from a remote.
func (m *Mirror) fetch(ctx context.Context, from Remote, most int) error {
	found, err := m.git.listRemote(ctx, from, true, most)
	if err != nil {
		return err
	}
	into := m.git.Repository(m.dir)
	if err := into.prepareFetch(nil, nil, false); err != nil {
		return err
	}
	refs := maps.Clone(found.Refs)
	maps.Copy(refs, found.Pulls)
	if len(refs) == 0 {
		return m.readRefs(ctx)
	}
	wanted := slices.Collect(maps.Values(refs))
	slices.Sort(wanted)
	if err := into.download(ctx, from, slices.Compact(wanted)); err != nil {
		return err
	}
	var packed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		packed.WriteString(string(refs[name]) + " " + name + "\n")
	}
	files := map[string]string{"packed-refs": packed.String()}
	if found.Head != "" {
		files["HEAD"] = "ref: " + found.Head + "\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return m.readRefs(ctx)
}
