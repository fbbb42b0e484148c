package codeowner

import (
	"cmp"
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Service implements the operations on files of code owners.
type Service struct {
	db    *db.DB
	repos *repo.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service) *Service { return &Service{d, repos} }

// File reads the file at a branch, a tag or a commit, which is the default branch if ref is empty, with its errors.
// Only people with push access see which owners do not count, since that tells who has access to the repository and
// which account has verified an e-mail address. Error: 404, also for a commit without a CODEOWNERS file.
func (s *Service) File(ctx context.Context, a *repo.Access, ref string) (*File, error) {
	at, err := s.repos.Resolve(ctx, a, cmp.Or(ref, a.DefaultBranch))
	if err != nil {
		return nil, err
	}
	f, err := s.At(ctx, a, at)
	switch {
	case err == nil && f.Path == "", errs.Is(err, errs.Invalid): // no file, or ref is not a commit
		return nil, errs.Absent()
	case err != nil:
		return nil, err
	}
	return f, s.findUnknown(ctx, map[repo.Of[string]]*File{{In: a, Key: ref}: f})
}

// At reads the file of a commit or tree, with errors of its syntax. Without a file it returns an empty one.
func (s *Service) At(ctx context.Context, a *repo.Access, at git.SHA) (*File, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	return Read(ctx, objects, at)
}

// maxTogether is how many bytes of files one request reads at most, but for a first one.
const maxTogether = 4 * maxBytes

// Errors returns the errors of the files at several branches or tags, as File does, with a fixed number of
// statements. A branch without a file has no errors. Error: errTogether.
func (s *Service) Errors(ctx context.Context, refs []repo.Of[string]) (map[repo.Of[string]]*ErrorsPayload, error) {
	var names []repo.Of[string]
	for _, of := range refs {
		name := cmp.Or(of.Key, of.In.DefaultBranch)
		for _, prefix := range refPrefixes {
			names = append(names, repo.Of[string]{In: of.In, Key: prefix + name})
		}
	}
	tips, err := s.repos.RefsAt(ctx, names)
	if err != nil {
		return nil, err
	}
	files, sum := map[repo.Of[string]]*File{}, 0
	for n, of := range refs {
		at := names[n*len(refPrefixes) : (n+1)*len(refPrefixes)]
		tip := cmp.Or(tips[at[0]], tips[at[1]], tips[at[2]])
		if tip == "" {
			continue
		}
		f, err := s.At(ctx, of.In, tip)
		if err != nil {
			return nil, err
		}
		if sum += len(f.text); sum > maxTogether {
			return nil, errTogether
		}
		if f.Path != "" {
			files[of] = f
		}
	}
	if err := s.findUnknown(ctx, files); err != nil {
		return nil, err
	}
	out := map[repo.Of[string]]*ErrorsPayload{}
	for of, f := range files {
		out[of] = f.payload()
	}
	return out, nil
}

var errTogether = errs.New(errs.TooLarge, "The CODEOWNERS files are too large together: ask for less at one time.")

// refPrefixes are what a short name of a ref may lack: the first that leads to a ref counts.
var refPrefixes = [...]string{git.Heads, git.Tags, ""}

// findUnknown adds errors for owners who do not count, where the caller may push.
func (s *Service) findUnknown(ctx context.Context, files map[repo.Of[string]]*File) error {
	var in []repo.ID
	var owners []string
	for of, f := range files {
		if of.In.Role >= account.Push {
			in, owners = append(in, of.In.ID), append(owners, f.owners()...)
		}
	}
	switch {
	case len(in) == 0:
		return nil
	case len(owners) > 4*maxNamed:
		return errTogether
	}
	known, err := db.Get(ctx, s.db, func(tx *db.Tx) (*Known, error) {
		return Resolve(tx, db.Unique(in), owners, nil)
	})
	if err != nil {
		return err
	}
	for of, f := range files {
		if of.In.Role >= account.Push {
			f.addUnknown(known, of.In.ID)
		}
	}
	return nil
}

// API implements the HTTP handlers of code owners.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// Routes returns the routes of code owners.
func (api *API) Routes() []route.Route {
	contents := api.s.repos.Router(route.Needs(scope.PublicRepo, "contents"))
	return []route.Route{
		contents.Pull("GET /repos/{owner}/{repo}/codeowners/errors", api.ListErrors),
	}
}

// ErrorsPayload is GitHub's codeowners-errors.
type ErrorsPayload struct {
	Errors []ErrorPayload `json:"errors"`
}

// ErrorPayload is one of GitHub's codeowners-errors.
type ErrorPayload struct {
	Line       int     `json:"line"`
	Column     int     `json:"column"`
	Source     string  `json:"source"`
	Kind       string  `json:"kind"`
	Suggestion *string `json:"suggestion"`
	Message    string  `json:"message"`
	Path       string  `json:"path"`
}

func (f *File) payload() *ErrorsPayload {
	out := &ErrorsPayload{Errors: make([]ErrorPayload, len(f.Errors))}
	for n := range f.Errors {
		e := &f.Errors[n]
		out.Errors[n] = ErrorPayload{Line: e.Line, Column: e.Column, Source: e.Shown(), Kind: e.Kind,
			Suggestion: web.OrNil(e.Suggestion), Message: e.Message(), Path: e.Path}
	}
	return out
}

// GET /repos/{owner}/{repo}/codeowners/errors
//
// ListErrors lists what is wrong with the CODEOWNERS file of ?ref=, by default of the default branch. Error: 404,
// also for a commit without one.
func (api *API) ListErrors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := api.s.File(r.Context(), a, web.QueryOf(r).Get("ref"))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, f.payload())
}
