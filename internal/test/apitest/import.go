package apitest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/git/packfile"
	"arbor/internal/repo"
	"arbor/internal/test/testkit"
)

// Import fills a repository with the history of a real one. Where that is a folder with
// packs, as package gittest makes them, the packs are copied and the refs moved, without
// the eight processes of git that an operator's import takes: tests need hundreds.
func (s *Server) Import(t testing.TB, r *repo.Repo, source string) {
	t.Helper()
	refs, packs, err := packed(source)
	if err == nil && len(refs.List) > 0 && len(packs) > 0 {
		err = s.importPacked(t.Context(), r, refs, packs)
	} else if err == nil {
		_, err = s.Forge.Transport.Import(t.Context(), r, source, func(string, int64, int64) {})
	}
	testkit.NoError(t, err)
}

// packed returns the refs of a bare repository and the files of its packs; no packs where
// source is none, or has objects in other places.
func packed(source string) (refs git.Refs, packs []string, err error) {
	entries, err := os.ReadDir(filepath.Join(source, "objects"))
	if err != nil {
		return refs, nil, nil
	}
	for _, e := range entries {
		if e.Name() != "pack" && e.Name() != "info" {
			return refs, nil, nil
		}
	}
	if _, err := os.Stat(filepath.Join(source, "objects/info/alternates")); err == nil {
		return refs, nil, nil
	}
	for _, ext := range []string{"pack", "idx"} { // git finds a pack by its index
		found, err := filepath.Glob(filepath.Join(source, "objects/pack/pack-*."+ext))
		if err != nil {
			return refs, nil, err
		}
		packs = append(packs, found...)
	}
	head, err := os.ReadFile(filepath.Join(source, "HEAD"))
	if err != nil {
		return refs, nil, err
	}
	refs.Head, _ = strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	refs.List, err = refsOf(source)
	return refs, packs, err
}

// refsOf lists the branches, tags and notes of a bare repository, by name.
func refsOf(source string) ([]git.Ref, error) {
	shas := map[string]git.SHA{}
	text, err := os.ReadFile(filepath.Join(source, "packed-refs"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if sha, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && sha != "#" {
			shas[name] = git.SHA(sha)
		}
	}
	kinds := []string{"heads", "tags", "notes"}
	for _, kind := range kinds {
		err := fs.WalkDir(os.DirFS(source), "refs/"+kind, func(path string, e fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || e.IsDir() {
				return err
			}
			sha, err := os.ReadFile(filepath.Join(source, path))
			shas[path] = git.SHA(strings.TrimSpace(string(sha)))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var list []git.Ref
	for name, sha := range shas {
		kind, _, _ := strings.Cut(strings.TrimPrefix(name, "refs/"), "/")
		if slices.Contains(kinds, kind) && git.CheckRefName(name) == nil {
			list = append(list, git.Ref{Name: name, SHA: sha})
		}
	}
	slices.SortFunc(list, func(a, b git.Ref) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// importPacked copies packs into a repository and makes the refs, and HEAD's branch the default one.
func (s *Server) importPacked(ctx context.Context, r *repo.Repo, refs git.Refs, packs []string) error {
	objects, release, err := s.Repos.GitOf(ctx, r.ID)
	if err != nil {
		return err
	}
	defer release()
	if err := objects.Init(); err != nil {
		return err
	}
	push := repo.Push{RepoID: r.ID, Purges: r.Purges, Atomic: true}
	scratch, err := os.MkdirTemp(objects.PacksDir(), packfile.TmpPack)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	for _, path := range packs {
		contents, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(scratch, filepath.Base(path)), contents, 0o400)
		}
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".pack") {
			push.GrownKB += int64(len(contents)) / 1024
		}
	}
	for _, path := range packs {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".pack"); ok {
			if err := objects.MoveIn(ctx, packfile.FilesAt(filepath.Join(scratch, name), name)); err != nil {
				return err
			}
		}
	}
	for _, ref := range refs.List {
		update := repo.RefUpdate{Name: ref.Name, Old: git.ZeroSHA, New: ref.SHA}
		if strings.HasPrefix(ref.Name, git.Tags) {
			object, peeled, err := objects.Peel(ctx, ref.SHA)
			if err != nil {
				return err
			}
			if peeled.SHA != object.SHA {
				update.Peeled = peeled.SHA
			}
		}
		push.Updates = append(push.Updates, update)
	}
	refused, err := s.Repos.MoveRefs(ctx, push)
	for _, reason := range refused {
		if err == nil {
			err = reason
		}
	}
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		branch := strings.TrimPrefix(refs.Head, git.Heads)
		tip, err := repo.BranchTip(tx, r.ID, branch)
		if err != nil || tip == "" {
			return err
		}
		return s.Repos.SetDefaultBranch(tx, r.ID, branch)
	})
}
