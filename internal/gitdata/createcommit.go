package gitdata

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxParents is the maximum number of parents of a new commit.
const maxParents = 100

// POST /repos/{owner}/{repo}/git/commits
//
// CreateCommit creates a commit of an existing tree with existing parents. The author defaults to the
// caller, the committer to the author. Dates keep their offset. A signature is stored without verification.
// No ref is updated.
func (api *API) CreateCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	if err := api.refuseEmpty(ctx, a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, "Commit")
	if err != nil {
		return err
	}
	self, err := api.identity(r)
	if err != nil {
		return err
	}
	c := readCommit(body, self)
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.checkLinks(r, a, c); err != nil {
		return err
	}
	object, err := c.Encode()
	if err != nil {
		return commitError("message", errs.InvalidField, err.Error())
	}
	c.SHA = object.SHA()
	if err := api.repos.WriteUnnamed(ctx, a, c.SHA, []git.NewObject{object}); err != nil {
		return err
	}
	api.noteWhole(ctx, a, c)
	verified, err := api.verifyCommit(ctx, c)
	if err != nil {
		return err
	}
	payload := newPlace(ctx, a).gitCommit(c, verified)
	return web.Created(w, r, payload.URL, payload)
}

func commitError(field, code, message string) error {
	return errs.Validation(errs.Field{Resource: CommitResource, Field: field, Code: code, Message: message})
}

// CommitResource is the name of commits in validation errors (decision 15), and RefResource that of refs.
const (
	CommitResource = "Commit"
	RefResource    = "Reference"
)

// readCommit reads the body and records errors in it.
func readCommit(body *web.Object, self git.Signature) *git.Commit {
	body.Require("message", "tree")
	c := &git.Commit{Message: body.String("message", 0).Value, Tree: readSHA(body, "tree", false)}
	for i, parent := range body.Strings("parents", maxParents, 0).Value {
		field := "parents[" + strconv.Itoa(i) + "]"
		if sha := parseSHA(&body.Faults, field, parent); sha != "" {
			c.Parents = append(c.Parents, sha)
		}
	}
	c.Author = readPerson(body, "author", "Commit", self)
	c.Committer = readPerson(body, "committer", "Commit", c.Author)
	c.Signed = strings.TrimRight(strings.ReplaceAll(body.String("signature", 0).Value, "\r\n", "\n"), "\n")
	return c
}

// checkLinks checks that tree and parents are objects of this repository, in one request to git.
func (api *API) checkLinks(r *http.Request, a *repo.Access, c *git.Commit) error {
	shas := append([]git.SHA{c.Tree}, c.Parents...)
	objects, err := api.repos.Known(r.Context(), a, shas)
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
func (api *API) noteWhole(ctx context.Context, a *repo.Access, c *git.Commit) {
	objects, release, err := api.repos.Git(ctx, a)
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
