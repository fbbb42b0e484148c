package payloads

import (
	"encoding/json"
	"fmt"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxAnswer is the size in bytes of the largest answer that a payload holds.
const maxAnswer = 24 << 20

// ask gives what the API answers whom hooks are told for: of a handler, with the parameters of its route.
// Error: that of the API; 404 where there is nothing.
func (t *told) ask(h repo.Handler, path string, params ...string) (json.RawMessage, error) {
	info := *t.info
	inner := &web.Info{ID: info.ID, Site: info.Site, Prefix: info.Prefix, Media: info.Media, ForHook: true}
	for n := 0; n < len(params); n += 2 {
		inner.SetParam(params[n], params[n+1])
	}
	address := web.Path("repos", t.repo.Owner.Login, t.repo.Name) + path
	r, err := http.NewRequestWithContext(t.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, "Not Found", err)
	}
	answer := web.Capture()
	answer.Limit(maxAnswer, func(int64) error { return nil })
	err = h(answer, web.With(r, inner), t.repo)
	switch {
	case errs.Is(err, errs.Gone), errs.Is(err, errs.Invalid): // switched off; what cannot be found
		return nil, errs.Absent()
	case err != nil:
		return nil, err
	case answer.Status != http.StatusOK:
		return nil, fmt.Errorf("payloads: %s answers %d", address, answer.Status)
	}
	return answer.Body.Bytes(), nil
}

// put puts an answer into the payload. Error: as of ask.
func (t *told) put(name string, h repo.Handler, path string, params ...string) (err error) {
	if t.about.Parts[name] != nil {
		return nil // it was rendered before it went
	}
	v, err := t.ask(h, path, params...)
	if err == nil {
		t.out[name] = v
	}
	return err
}

// putIf is put for what may be gone.
func (t *told) putIf(name string, h repo.Handler, path string, params ...string) error {
	err := t.put(name, h, path, params...)
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
