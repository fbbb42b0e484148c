package gitea

import (
	"encoding/base32"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// attachmentPath begins the paths of files of issues, comments and releases.
const attachmentPath = "attachments/"

// fileAnswer is Gitea's attachment.
type fileAnswer struct {
	ID        int64     `json:"id"`
	UUID      string    `json:"uuid"`
	Name      string    `json:"name"`
	Size      int64     `json:"size"`
	Downloads int64     `json:"download_count"`
	CreatedAt time.Time `json:"created_at"`
}

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// file returns where the content is. ok is false if the UUID is invalid.
func (f *fileAnswer) file() (file migration.File, ok bool) {
	return migration.File{Path: attachmentPath + f.UUID, Size: f.Size}, uuidPattern.MatchString(f.UUID)
}

// key is the id of an attachment in records, 26 letters and digits.
func (f *fileAnswer) key() string {
	id, _ := hex.DecodeString(strings.ReplaceAll(f.UUID, "-", ""))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id))
}

// withFiles writes the attachments of a text, and returns the text with links to their new addresses. A file
// that the text does not link to gets a link below it, where Gitea shows it.
func (s *Source) withFiles(text string, files []fileAnswer, author string) (string, error) {
	for _, f := range files {
		file, ok := f.file()
		if !ok {
			continue
		}
		kind := remote.Picture(f.Name)
		if !s.attachments[f.UUID] {
			s.attachments[f.UUID] = true
			err := s.Out.Add(migration.Attachments, &migration.Attachment{ID: f.key(), Name: f.Name, ContentType: kind,
				Uploader: author, CreatedAt: f.CreatedAt, File: file})
			if err != nil {
				return "", err
			}
		}
		address := "/" + s.about.FullName + "/attachments/" + f.key()
		if in := s.linkTo(f.UUID); in.MatchString(text) {
			text = in.ReplaceAllLiteralString(text, address)
			continue
		}
		link := "[" + escapeName.Replace(f.Name) + "](" + address + ")"
		if kind != "" {
			link = "!" + link
		}
		text = strings.TrimLeft(strings.TrimRight(text, "\n")+"\n\n"+link, "\n")
	}
	return text, nil
}

// linkTo finds the address of an attachment in texts: with the server's name for itself before it, or without.
func (s *Source) linkTo(uuid string) *regexp.Regexp {
	return regexp.MustCompile(`(?:https?://[^\s()<>\[\]"']*)?/attachments/` + regexp.QuoteMeta(uuid))
}

var escapeName = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, "\n", " ")
