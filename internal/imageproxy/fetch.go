package imageproxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Bounds of one image.
const (
	maxBytes = 5 << 20
	maxTime  = 30 * time.Second // with the time that the browser takes to read it
)

// agent is the user agent of the proxy's requests.
const agent = "Arbor-Image-Proxy"

// Routes are the endpoints.
func (p *Proxy) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{free.Anyone("GET "+root+"{digest}/{address}", p.Get).In(route.Pages)}
}

// GET /assets/images/{digest}/{address}
//
// Get answers an image of another host, as it comes. Nothing of the request goes there, and of the answer only
// the bytes come back. Errors: 404 for an address that this server has not signed, and for what is no image, is
// too large, or does not come; 429 and 503 while too many are fetched. An image that turns out to be too large
// breaks off.
func (p *Proxy) Get(w http.ResponseWriter, r *http.Request) error {
	if r.UserAgent() == agent { // another host led back here, perhaps in circles
		return noImage("the server asks itself")
	}
	address, ok := p.open(web.Param(r, "digest"), web.Param(r, "address"))
	if !ok {
		return errs.Absent()
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxTime)
	defer cancel()
	admission.As(ctx, admission.Stream) // the request waits for others: it needs no turn
	release, err := admission.Slot(ctx, admission.Image)
	if err != nil {
		return err
	}
	defer release()
	response, err := p.client.Fetch(ctx, address, http.Header{
		"Accept":     {"image/svg+xml,image/*"},
		"User-Agent": {agent}, "Accept-Encoding": {"identity"}})
	if err != nil {
		return noImage(err.Error())
	}
	defer response.Body.Close()
	return send(w, r, response)
}

func noImage(why string) error { return errs.New(errs.NotFound, "The image is not shown: "+why) }

// send sends an image on.
func send(w http.ResponseWriter, r *http.Request, from *http.Response) error {
	switch coding := from.Header.Get("Content-Encoding"); {
	case from.StatusCode != http.StatusOK:
		return noImage("its host answered " + strconv.Itoa(from.StatusCode))
	case coding != "" && coding != "identity":
		return noImage("it is compressed")
	case from.ContentLength > maxBytes:
		return noImage("it is too large")
	}
	in := bufio.NewReaderSize(io.LimitReader(from.Body, maxBytes+1), headSize)
	head, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return noImage("it did not come")
	}
	kind := kindOf(head)
	if kind == "" {
		return noImage("its bytes are those of no image that is shown here")
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, max-age=3600")
	if from.ContentLength >= 0 {
		h.Set("Content-Length", strconv.FormatInt(from.ContentLength, 10))
	}
	if r.Method == http.MethodHead {
		return nil
	}
	n, err := io.Copy(w, in)
	if err == nil && n > maxBytes {
		err = errs.New(errs.Canceled, "an image of another host is too large")
	}
	if err != nil {
		return errs.Wrap(errs.Canceled, "an image of another host broke off", err)
	}
	return nil
}
