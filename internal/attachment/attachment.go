// Package attachment holds the files that people put into texts of a repository: pictures of issues, logs,
// examples.
//
//	GET /{owner}/{repo}/attachments/{key}   api.go: the bytes
//
// The other addresses are pages, of package page/attach. list.go reads lists, upload.go takes a file in, kind.go says what it is by its bytes, name.go what it is called; store.go is the
// SQL. Table: attachments; the files themselves are package file's.
//
// Users who see the repository may read attachments and, if signed in, add them, as they may open issues. The
// uploader and administrators of the repository may remove an attachment. A file is shown only if it is a
// picture of a few kinds by its bytes; everything else is a download of no kind, and nothing in either runs. An upload
// by somebody with push access counts in the quota of the repository's owner; others' uploads count in their own,
// with a limit of files and bytes in each repository ([Bounds]).
//
// What becomes of an attachment:
//
//	repository turned private or public  those see it who see the repository, at once: what was kept asks again
//	repository renamed or transferred    it goes with the repository; the old address leads to the new one;
//	                                     what counted for the owner counts for the new one
//	repository archived                  as before, but nothing is added or removed
//	repository forked                    the fork has none
//	repository deleted                   gone; it counts for its uploader no more, for the owner until the
//	                                     repository's folder is gone
//	issue transferred or deleted         it stays where it was uploaded, for those who see that repository
//	uploader loses the repository        it stays; the uploader sees it as the repository
//	uploader gets or loses push          it goes on counting for whom it counted when it was uploaded
//	uploader suspended                   it stays
//	uploader deleted                     it stays, uploaded by ghost, and counts for the repository's owner:
//	                                     administrators may remove it
package attachment

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Resource is the name of attachments in validation errors (decision 15).
const Resource = "Attachment"

// Attachment is a row of the table attachments with its file.
type Attachment struct {
	ID          int64
	Key         string
	Name        string
	ContentType string // of a picture that is shown, or file.AnyBytes
	UploaderID  account.ID
	CreatedAt   db.Time
	File        file.File
}

// IsPicture reports an attachment that browsers show.
func (x *Attachment) IsPicture() bool { return x.ContentType != file.AnyBytes }

// Path is its address in the repository, by which texts name it.
func (x *Attachment) Path(a *repo.Access) string {
	return web.Path(a.Owner.Login, a.Name, "attachments", x.Key)
}

// Markdown returns the Markdown for it. The address has no host, so that it is the same under every name of
// the server.
func (x *Attachment) Markdown(a *repo.Access) string {
	text := "[" + escape(x.Name) + "](" + x.Path(a) + ")"
	if x.IsPicture() {
		return "!" + text
	}
	return text
}

// Bounds are how much people may upload.
type Bounds struct {
	Picture int64 // of one picture, in bytes
	Other   int64 // of one other file, in bytes
	Bytes   int64 // of all files that somebody without push access has in one repository
	Files   int64 // of the same person there
}

// DefaultBounds are GitHub's for a file; those for a person are ours.
var DefaultBounds = Bounds{Picture: 10 << 20, Other: 25 << 20, Bytes: 100 << 20, Files: 1000}

// Service holds what the operations on attachments share.
type Service struct {
	db     *db.DB
	repos  *repo.Service
	files  *file.Store
	Bounds Bounds // set before the service is used
}

// New returns the service.
func New(d *db.DB, repos *repo.Service, files *file.Store) *Service {
	return &Service{db: d, repos: repos, files: files, Bounds: DefaultBounds}
}

func invalid(field, message string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: errs.Custom, Message: message})
}
