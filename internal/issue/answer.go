package issue

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// form is how a rendered answer holds its issues.
type form int

const (
	single form = iota // one, in its full form
	list               // an array
)

// answer answers with one issue in its full form, which was just written.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, i *Issue) error {
	body, _, err := api.rendering(a, func(*db.Tx) ([]*Issue, error) { return []*Issue{i}, nil }, single)(r.Context())
	if err != nil {
		return err
	}
	return web.Bytes(w, r, status, body, "")
}

// rendering makes what renders the issues of one repository that find finds, in
// one snapshot.
func (api *API) rendering(a *repo.Access, find func(*db.Tx) ([]*Issue, error), f form) web.Render {
	return func(ctx context.Context) ([]byte, string, error) {
		p := newPage(ctx, a)
		p.full = f == single
		err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
			if p.issues, err = find(tx); err != nil {
				return err
			}
			return p.load(tx)
		})
		if err != nil {
			return nil, "", err
		}
		if f == list {
			return api.finishPage(ctx, a, p, nil)
		}
		if err := api.s.renderBodies(ctx, p); err != nil {
			return nil, "", err
		}
		body := p.appendIssue(make([]byte, 0, 6<<10), p.issues[0])
		return body, web.Tag(body), nil
	}
}

// finishPage renders a page that has all that it shows but bodies, in the room
// given or in its own.
func (api *API) finishPage(ctx context.Context, a *repo.Access, p *page, room []byte) (body []byte, etag string, err error) {
	if err := api.s.renderBodies(ctx, p); err != nil {
		return nil, "", err
	}
	if room == nil {
		room = make([]byte, 0, 4<<10*(len(p.issues)+1))
	}
	body = p.appendList(room)
	return body, p.tag(a, body), nil
}

// answerKey names everything that an answer about one repository's issues
// depends on: the address, the dialect, what this caller may see, and the
// generations of all that payloads show.
func answerKey(r *http.Request, a *repo.Access) string {
	b := answerName(web.From(r.Context()), a)
	b = strconv.AppendInt(append(b, " i"...), a.IssuesGeneration, 36)
	b = strconv.AppendInt(append(b, " a"...), a.AccountsGeneration, 36)
	for _, s := range [...]string{r.URL.EscapedPath(), r.URL.RawQuery} {
		b = append(append(b, ' '), s...)
	}
	if len(b) > maxKey {
		sum := sha256.Sum256(b)
		b = sum[:]
	}
	return string(b)
}

// answerName names what an answer about one repository's issues depends on
// besides generations and its address: the dialect, and what this caller may see.
func answerName(info *web.Info, a *repo.Access) []byte {
	b := make([]byte, 0, 400)
	b = strconv.AppendInt(b, a.ID, 36)
	b = append(b, ' ')
	for _, on := range [...]bool{info.Media.Preview(web.Assignees), info.Media.Preview(web.Reactions), insider(a), a.HasIssues} {
		b = append(b, "01"[bit(on)])
	}
	for _, s := range [...]string{a.Owner.Login, a.Name, info.Media.Kind, info.Prefix, info.Site} {
		b = append(append(b, ' '), s...)
	}
	return append(b, ' ')
}

// maxKey is the length of the longest key that is kept as it is, in bytes.
const maxKey = 600

// serve answers with what is kept under the address, or renders it.
//
// Links in rendered bodies lead wherever this caller may go, in any repository:
// such an answer is kept only while nothing at all is committed.
func (api *API) serve(w http.ResponseWriter, r *http.Request, a *repo.Access, render web.Render) error {
	key := answerKey(r, a)
	if kind := web.From(r.Context()).Media.Kind; kind == "html" || kind == "full" {
		stamp, ok := api.s.db.Stamp()
		if !ok {
			return answerOnce(w, r, render)
		}
		key = fmt.Sprint(key, stamp, callerID(a))
	}
	return api.answers.Serve(w, r, key, render)
}

// answerOnce answers with what is not kept.
func answerOnce(w http.ResponseWriter, r *http.Request, render web.Render) error {
	body, etag, err := render(r.Context())
	if err != nil {
		return err
	}
	return web.Bytes(w, r, http.StatusOK, body, etag)
}

func callerID(a *repo.Access) int64 {
	if a.Caller == nil {
		return 0
	}
	return a.Caller.ID
}

// insider reports a caller who may know who belongs to the organization.
func insider(a *repo.Access) bool { return a.Member || a.Caller != nil && a.Caller.SiteAdmin }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
