package attachment

import (
	"context"
	"net/http"

	"arbor/internal/db"
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

// Routes is the address of the bytes.
func (api *API) Routes() []route.Route {
	issues := api.s.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	return []route.Route{issues.Pull("GET /{owner}/{repo}/attachments/{key}", api.Get).AsFile()}
}

// GET /{owner}/{repo}/attachments/{key}
//
// Get answers the bytes of an attachment: a picture to be shown, anything else as a download. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	x, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*Attachment, error) {
		return byKey(tx, a.ID, web.Param(r, "key"))
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
	return file.Send(w, r, in, x.ContentType, disposition(x.IsPicture(), x.Name), x.CreatedAt.Time())
}

// Payload is an attachment as JSON, for scripts that upload one.
type Payload struct {
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

// NewPayload returns the JSON of an attachment of the repository.
func NewPayload(ctx context.Context, a *repo.Access, x *Attachment, uploader string) Payload {
	return Payload{Key: x.Key, Name: x.Name, URL: web.From(ctx).Page(x.Path(a)), Path: x.Path(a),
		Markdown: x.Markdown(a), Picture: x.IsPicture(), Size: x.File.Size, Uploader: uploader,
		CreatedAt: x.CreatedAt}
}
