package attachment

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests about attachments.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// Routes is the address of the bytes. The other handlers answer pages.
func (api *API) Routes() []route.Route {
	issues := api.s.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	return []route.Route{issues.Pull("GET /{owner}/{repo}/attachments/{key}", api.Get).AsFile()}
}

// GET /{owner}/{repo}/attachments/{key}
//
// Get answers the bytes of an attachment: a picture to be shown, anything else as a download. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var x *Attachment
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		x, err = byKey(tx, a.ID, web.Param(r, "key"))
		return err
	})
	if err != nil {
		return err
	}
	if web.NotModified(w, r, `"`+x.File.SHA256+`"`) {
		return nil
	}
	in, err := api.s.files.Open(r.Context(), &x.File)
	if err != nil {
		return err
	}
	defer in.Close()
	file.Send(w, r, in, x.ContentType, disposition(x.IsPicture(), x.Name), x.CreatedAt.Time())
	return nil
}

// payload is an attachment in the answers that pages read.
type payload struct {
	Key       string  `json:"key"`
	Name      string  `json:"name"`
	URL       string  `json:"url"`
	Path      string  `json:"path"` // the same without the host
	Markdown  string  `json:"markdown"`
	Picture   bool    `json:"picture"`
	Size      int64   `json:"size"` // in bytes
	Uploader  string  `json:"uploader"`
	CreatedAt db.Time `json:"created_at"`
}

func newPayload(r *http.Request, a *repo.Access, x *Attachment, uploader string) payload {
	return payload{Key: x.Key, Name: x.Name, URL: web.From(r.Context()).Page(x.path(a)), Path: x.path(a),
		Markdown: x.markdown(a), Picture: x.IsPicture(), Size: x.File.Size, Uploader: uploader,
		CreatedAt: x.CreatedAt}
}

// Upload adds the file of the body to the repository, under the name in ?name=. Errors: those of
// Service.Upload.
func (api *API) Upload(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	made, err := api.s.Upload(r.Context(), a, web.QueryOf(r).Get("name"), r.Body)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, newPayload(r, a, made, a.Caller.Login))
}

// listing is a page of attachments, with how many there are in all.
type listing struct {
	Files int64     `json:"files"`
	Bytes int64     `json:"bytes"`
	Items []payload `json:"items"`
}

// ListOwn answers a page of the caller's attachments in the repository, the newest first.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if a.Caller == nil {
		return errs.New(errs.Unauthenticated, "Requires authentication")
	}
	return api.list(w, r, a, func(tx *db.Tx, p web.Page) (files, bytes int64,
		found []*Attachment, err error) {
		if files, bytes, err = ownIn(tx, a.ID, a.Caller.ID); err == nil {
			found, err = listOwn(tx, a.ID, a.Caller.ID, p)
		}
		return files, bytes, found, err
	})
}

// List answers a page of the repository's attachments, the newest first, or with ?sort=size the largest.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	bySize := web.QueryOf(r).Get("sort") == "size"
	return api.list(w, r, a, func(tx *db.Tx, p web.Page) (files, bytes int64,
		found []*Attachment, err error) {
		if files, bytes, err = allIn(tx, a.ID); err == nil {
			found, err = listAll(tx, a.ID, bySize, p)
		}
		return files, bytes, found, err
	})
}

func (api *API) list(w http.ResponseWriter, r *http.Request, a *repo.Access,
	find func(*db.Tx, web.Page) (files, bytes int64, found []*Attachment, err error)) error {
	page := web.ReadPage(r)
	out := listing{Items: []payload{}}
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		out.Items = out.Items[:0]
		files, bytes, found, err := find(tx, page)
		if err != nil {
			return err
		}
		out.Files, out.Bytes = files, bytes
		web.Link(w, r, page, files)
		ids := make([]account.ID, len(found))
		for n, x := range found {
			ids[n] = x.UploaderID
		}
		people, err := account.ByIDs(tx, ids)
		if err != nil {
			return err
		}
		for _, x := range found {
			login := ""
			if who := people[x.UploaderID]; who != nil {
				login = who.Login
			}
			out.Items = append(out.Items, newPayload(r, a, x, login))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// Remove removes the attachment of ?key=. Errors: 403, 404.
func (api *API) Remove(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Remove(r.Context(), a, web.QueryOf(r).Get("key")); err != nil {
		return err
	}
	return web.NoContent(w)
}
