package gitdata

import (
	"context"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// revision resolves a full SHA, a branch, a tag, HEAD or "" (the default branch), or if short is true an
// abbreviated SHA, to a commit (decision 50). It follows annotated tags. Errors: 409 for a repository
// without refs, 404, 422 for an ambiguous abbreviation.
func (s *Service) revision(ctx context.Context, a *repo.Access, name string, short bool) (git.SHA, error) {
	sha, err := s.find(ctx, a, name, short)
	if err == nil {
		sha, err = s.peelToCommit(ctx, a, sha)
	}
	if errs.Is(err, errs.NotFound) {
		return "", s.orEmpty(ctx, a, err)
	}
	return sha, err
}

// peelToCommit follows annotated tags to a commit. Error: 404.
func (s *Service) peelToCommit(ctx context.Context, a *repo.Access, sha git.SHA) (git.SHA, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	sha, err = objects.PeelToCommit(ctx, sha)
	if errs.Is(err, errs.Invalid) {
		err = errs.Wrap(errs.NotFound, "Not Found", err)
	}
	return sha, err
}

// find resolves a name to an object, which need not be a commit. Errors: 404; 422 for an ambiguous
// abbreviation.
func (s *Service) find(ctx context.Context, a *repo.Access, name string, short bool) (git.SHA, error) {
	found, err := s.findAll(ctx, []repo.Of[string]{{In: a, Key: name}})
	switch {
	case err != nil:
		return "", err
	case found[0] != "":
		return found[0], nil
	case short && git.IsPrefix(name):
		return s.repos.FindCommit(ctx, a, name)
	}
	return "", errs.Absent()
}

// findAll resolves names that are not abbreviated SHAs, with one statement. Names of nothing, or of what is
// hidden from the caller, are "".
func (s *Service) findAll(ctx context.Context, names []repo.Of[string]) ([]git.SHA, error) {
	found, candidates, refs := make([]git.SHA, len(names)), make([][]string, len(names)), []repo.Of[string]{}
	for n, of := range names {
		sha, err := git.ParseSHA(of.Key)
		if err != nil {
			candidates[n] = refsNamed(of)
			refs = append(refs, repo.AllOf(of.In, candidates[n])...)
			continue
		}
		err = s.repos.CheckNamed(ctx, of.In, sha)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return nil, err
		}
		if err == nil {
			found[n] = sha
		}
	}
	at, err := s.repos.RefsAt(ctx, refs)
	for n, of := range names {
		for _, name := range candidates[n] {
			if found[n] == "" {
				found[n] = at[repo.Of[string]{In: of.In, Key: name}]
			}
		}
	}
	return found, err
}

// refsNamed returns the full names of the refs that a name may mean, the first of them first.
func refsNamed(of repo.Of[string]) []string {
	switch name := of.Key; {
	case !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0:
		return nil
	case name == "" || name == "HEAD":
		return []string{git.Heads + of.In.DefaultBranch}
	case strings.HasPrefix(name, "heads/") || strings.HasPrefix(name, "tags/"):
		return []string{git.Heads + name, git.Tags + name, name, "refs/" + name}
	default:
		return []string{git.Heads + name, git.Tags + name, name}
	}
}

// absent replaces the error for an object that is not there, or of another type, by a 404 or, in a repository without
// refs, a 409.
func (s *Service) absent(ctx context.Context, a *repo.Access, err error) error {
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return s.orEmpty(ctx, a, errs.Absent())
	}
	return err
}

// orEmpty replaces a 404 by the 409 of a repository without refs (decision 16).
func (s *Service) orEmpty(ctx context.Context, a *repo.Access, err error) error {
	refs, refsErr := s.repos.Refs(ctx, a)
	switch {
	case refsErr != nil:
		return refsErr
	case len(refs.List) == 0:
		return errs.New(errs.Conflict, "Git Repository is empty.")
	default:
		return err
	}
}

// splitRef splits REF/PATH; the ref may contain slashes. Error: 404.
func (s *Service) splitRef(ctx context.Context, a *repo.Access, text string) (ref, path string, err error) {
	at := 0
	for range maxRefParts {
		n := strings.IndexByte(text[at:], '/')
		if n < 0 {
			break
		}
		at += n
		_, err := s.find(ctx, a, text[:at], false)
		if err == nil && at > 0 {
			return text[:at], text[at+1:], nil
		}
		if err != nil && !errs.Is(err, errs.NotFound) {
			return "", "", err
		}
		at++
	}
	return "", "", errs.Absent()
}

// maxRefParts is the number of path segments that are tried as a ref.
const maxRefParts = 10
