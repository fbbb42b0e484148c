package gitdata

import (
	"context"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// maxParents is the maximum number of parents of a new commit.
const maxParents = 100

// CreateCommit stores a commit of an existing tree with existing parents, and sets its SHA. No ref is updated. Error:
// 422.
func (s *Service) CreateCommit(ctx context.Context, a *repo.Access, c *git.Commit) error {
	if err := s.checkLinks(ctx, a, c); err != nil {
		return err
	}
	object, err := encode(c)
	if err != nil {
		return err
	}
	c.SHA = object.SHA()
	if err := s.repos.WriteUnnamed(ctx, a, c.SHA, []git.NewObject{object}); err != nil {
		return err
	}
	s.noteWhole(ctx, a, c)
	return nil
}

// encode encodes a commit, and signs it if its Sign says so. Error: 422 for texts that Git does not accept.
func encode(c *git.Commit) (git.NewObject, error) {
	object, err := c.Encode()
	if errs.Is(err, errs.Invalid) {
		err = commitError("message", errs.InvalidField, err.Error())
	}
	return object, err
}

func commitError(field, code, message string) error {
	return errs.Validation(errs.Field{Resource: CommitResource, Field: field, Code: code, Message: message})
}

// CommitResource is the name of commits in validation errors (decision 15), and RefResource that of refs.
const (
	CommitResource = "Commit"
	RefResource    = "Reference"
)

// checkLinks checks that tree and parents are objects of this repository, in one request to git.
func (s *Service) checkLinks(ctx context.Context, a *repo.Access, c *git.Commit) error {
	shas := append([]git.SHA{c.Tree}, c.Parents...)
	objects, err := s.repos.Known(ctx, a, shas)
	if err != nil {
		return err
	}
	var wrong []errs.Field
	for i, o := range objects {
		field, want := "tree", git.TypeTree
		if i > 0 {
			field, want = "parents["+strconv.Itoa(i-1)+"]", git.TypeCommit
		}
		switch {
		case o.Type == "":
			wrong = append(wrong, errs.Field{Resource: "Commit", Field: field, Code: errs.Missing,
				Message: string(shas[i]) + " is not an object of this repository"})
		case o.Type != want:
			wrong = append(wrong, errs.Field{Resource: "Commit", Field: field, Code: errs.InvalidField,
				Message: string(shas[i]) + " is a " + string(o.Type) + ", not a " + string(want)})
		}
	}
	if len(wrong) > 0 {
		return errs.Validation(wrong...)
	}
	return nil
}

// noteWhole records that everything reachable from the commit exists, if that is known. Creating a ref to
// it then needs no walk.
func (s *Service) noteWhole(ctx context.Context, a *repo.Access, c *git.Commit) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return // then the walk is made
	}
	defer release()
	for _, sha := range append([]git.SHA{c.Tree}, c.Parents...) {
		if !objects.IsWhole(sha) {
			return
		}
	}
	objects.MarkWhole(c.SHA)
}
