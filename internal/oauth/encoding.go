package oauth

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// field is a member of an answer of OAuth. Value is a text or an int64.
type field struct {
	name  string
	value any
}

// withCommas is a set of scopes as answers of OAuth have it.
func withCommas(s scope.Set) string { return strings.ReplaceAll(s.String(), ", ", ",") }

// networkOf returns the network of a request, or "" for a Unix socket.
func networkOf(r *http.Request) string {
	if from := web.Network(web.From(r.Context()).From); from.IsValid() {
		return from.String()
	}
	return ""
}

// addressOf returns the address of a request, or "" for a Unix socket.
func addressOf(r *http.Request) string {
	if from := web.From(r.Context()).From; from.IsValid() {
		return from.String()
	}
	return ""
}

// sent are the parameters that programs send.
var sent = []string{"client_id", "client_secret", "code", "redirect_uri", "code_verifier", "scope", "device_code",
	"grant_type", "refresh_token", "token"}

// readForm reads what a program sent: a form, a JSON object of texts, or the query. A parameter is sent once. Errors:
// 400, 413.
func readForm(r *http.Request) (url.Values, error) {
	body, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	values := url.Values{}
	switch {
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		o, err := web.ParseBody(r, body, "OAuth")
		if err != nil {
			return nil, err
		}
		for _, name := range sent {
			values.Set(name, o.String(name, 0).Value)
		}
		return values, o.Err()
	case len(body) > 0:
		return parseForm(string(body))
	}
	if _, err := parseForm(r.URL.RawQuery); err != nil {
		return nil, err
	}
	q := web.QueryOf(r)
	for _, name := range sent {
		values.Set(name, q.Get(name))
	}
	return values, nil
}

// parseForm reads a form, or a query. Error: 400.
func parseForm(encoded string) (url.Values, error) {
	values, err := url.ParseQuery(encoded)
	if err != nil {
		return nil, errs.New(errs.Malformed, "The parameters must be form-encoded.")
	}
	for _, name := range sent {
		if len(values[name]) > 1 {
			return nil, errs.Newf(errs.Malformed, "The parameter %s was sent more than once.", name)
		}
		if text := values.Get(name); !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return nil, errs.Newf(errs.Malformed, "The parameter %s must be text in UTF-8.", name)
		}
	}
	return values, nil
}

// clientOf finds how a client proves who it is: in the form, or by Basic, encoded as RFC 6749, 2.3.1, says. ok is
// false for other credentials, and for both ways at once with different ids or two secrets.
func clientOf(r *http.Request, form url.Values) (c Client, ok bool) {
	c = Client{form.Get("client_id"), form.Get("client_secret")}
	if len(r.Header["Authorization"]) == 0 {
		return c, true
	}
	basic, ok := basicOf(r)
	if !ok || c.ID != "" && c.ID != basic.ID || c.Secret != "" {
		return Client{}, false
	}
	return basic, true
}

// basicOf reads a client's credentials in Basic.
func basicOf(r *http.Request) (c Client, ok bool) {
	user, password, ok := r.BasicAuth()
	if !ok || len(r.Header["Authorization"]) != 1 {
		return c, false
	}
	var err, also error
	c.ID, err = url.QueryUnescape(user)
	c.Secret, also = url.QueryUnescape(password)
	return c, err == nil && also == nil
}

// answer answers JSON or XML if the request accepts it, else a form, as GitHub does. The answer may not be cached.
func answer(w http.ResponseWriter, r *http.Request, fields []field) error {
	noStore(w)
	accept := strings.Join(r.Header["Accept"], ",")
	switch json, xml := strings.Contains(accept, "json"), acceptsXML(accept); {
	case json:
		out := make(map[string]any, len(fields))
		for _, f := range fields {
			out[f.name] = f.value
		}
		return web.JSON(w, r, http.StatusOK, out)
	case xml:
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		_, err := w.Write(inXML(fields))
		return err
	}
	form := url.Values{}
	for _, f := range fields {
		form.Set(f.name, text(f.value))
	}
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	_, err := w.Write([]byte(form.Encode()))
	return err
}

// acceptsXML reports whether a client asks for XML: not a browser, which takes it, too.
func acceptsXML(accept string) bool {
	return !strings.Contains(accept, "text/html") && slices.ContainsFunc(strings.Split(accept, ","),
		func(part string) bool {
			kind, _, _ := strings.Cut(part, ";")
			return strings.EqualFold(strings.TrimSpace(kind), "application/xml")
		})
}

func inXML(fields []field) []byte {
	var b strings.Builder
	b.WriteString("<OAuth>")
	for _, f := range fields {
		b.WriteString("<" + f.name + ">")
		xml.EscapeText(&b, []byte(text(f.value)))
		b.WriteString("</" + f.name + ">")
	}
	b.WriteString("</OAuth>")
	return []byte(b.String())
}

func text(value any) string {
	if n, is := value.(int64); is {
		return strconv.FormatInt(n, 10)
	}
	s, _ := value.(string)
	return s
}
