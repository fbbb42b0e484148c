package releases

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxFields is how many bytes the fields of a form with files may have together.
const maxFields = 1 << 20

// sent is a form of a release that comes with files: its fields up to the first file, which is still to be read.
type sent struct {
	page.Form
	parts *multipart.Reader // nil: the form has no files
	file  *multipart.Part   // nil: none, or the last one was read
	size  int               // of the fields, in bytes
	count int               // of fields and files
}

// readSent reads the fields of a form up to the first file. Errors: 400, 413, 415.
func readSent(w http.ResponseWriter, r *http.Request) (*sent, error) {
	f := &sent{Form: page.Form{Values: url.Values{}}}
	var err error
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "multipart/form-data" {
		r.Body = http.MaxBytesReader(w, r.Body, maxFields)
		f.Form, err = page.ReadForm(r)
		return f, err
	}
	if f.parts, err = r.MultipartReader(); err != nil {
		return nil, errs.New(errs.UnsupportedMedia, "the form is not encoded as forms with files are")
	}
	if err := f.next(); err != nil {
		return nil, err
	}
	return f, admission.Hold(r.Context(), int64(2*f.size))
}

// next reads fields until the next file. Errors: 400, 413.
func (f *sent) next() error {
	for f.file = nil; ; {
		part, err := f.parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errs.Wrap(errs.Malformed, "the form could not be read to its end", err)
		}
		if f.count++; f.count > page.MaxFields {
			return errs.Newf(errs.Malformed, "a form has at most %d fields", page.MaxFields)
		}
		if part.FileName() != "" {
			f.file = part
			return nil
		}
		if err := f.field(part); err != nil {
			return err
		}
	}
}

// field reads a field. A file field in which nothing was chosen is an empty one.
func (f *sent) field(part *multipart.Part) error {
	data, err := io.ReadAll(io.LimitReader(part, int64(maxFields-f.size)+1))
	f.size += len(data)
	switch {
	case err != nil:
		return errs.Wrap(errs.Malformed, "the form could not be read to its end", err)
	case f.size > maxFields:
		return errs.Newf(errs.TooLarge, "the fields of a form have at most %d bytes", maxFields)
	case !utf8.Valid(data) || strings.IndexByte(string(data), 0) >= 0:
		return errs.Newf(errs.Malformed, "field %q is not UTF-8 text", errs.Clip(part.FormName()))
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\r", "\n")
	f.Values[part.FormName()] = append(f.Values[part.FormName()], text)
	return nil
}

// uploadSent adds the files to a release, each as it comes, and reads the fields behind them. A file takes the place of
// one of the same name among those that it may replace.
func (p *Pages) uploadSent(r *http.Request, a *repo.Access, id int64, f *sent, replaces []int64) error {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	admission.As(r.Context(), admission.Push) // the client may be slow: others go first
	for files := 1; f.file != nil; files++ {
		if files > maxParts {
			return errs.Newf(errs.Invalid, "at most %d files at a time", maxParts)
		}
		_, err = p.with.Releases.Upload(ctx, a, id, release.NewAsset{Name: f.file.FileName(),
			ContentType: f.file.Header.Get("Content-Type"), Size: -1, From: f.file, Replaces: replaces})
		if err != nil {
			return ofFile(f.file.FileName(), err)
		}
		if err := f.next(); err != nil {
			return err
		}
	}
	return nil
}

// ofFile says of which file an error is. Its fields are those of the file, and not of the form.
func ofFile(name string, err error) error {
	problem, other := page.ProblemOf(err)
	if other != nil {
		return err
	}
	says := []string{}
	for _, f := range problem.Fields {
		says = append(says, f.Text)
	}
	if len(says) == 0 {
		says = append(says, problem.Message)
	}
	return errs.Wrap(errs.KindOf(err), errs.Clip(name)+": "+strings.Join(says, ". "), err)
}

// discard removes the draft that was made for files which did not come: the client broke off, and may not see an answer.
func (p *Pages) discard(r *http.Request, a *repo.Access, v *editView) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), discardTime)
	defer cancel()
	ctx, err := p.kit.Delete(r.WithContext(ctx), a, account.Push)
	if err != nil {
		return err
	}
	id := v.Old.ID
	v.Old = nil
	return p.with.Releases.Discard(ctx, a, id)
}

// discardTime is how long discard may take.
const discardTime = 30 * time.Second

// brokeOff reports an error that is not about what was sent, which a form shows again beside the draft, but about
// the sending.
func brokeOff(r *http.Request, err error) bool {
	_, other := page.ProblemOf(err)
	return other != nil || errs.Is(err, errs.Malformed) || r.Context().Err() != nil
}

// numbersOf are the numbers in a list of texts. What is no number is ignored.
func numbersOf(list []string) (numbers []int64) {
	for _, text := range list {
		if n, ok := web.ParseNumber(text); ok {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
