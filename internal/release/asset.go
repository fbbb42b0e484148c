package release

import (
	"context"
	"errors"
	"io"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// AssetResource is the name of assets in validation errors (decision 15).
const AssetResource = "ReleaseAsset"

// Bounds of assets: of a release GitHub's, of names and labels in bytes and code points ours.
const (
	DefaultMaxAsset = 2 << 30 // bytes
	MaxAssets       = 1000    // of one release
	MaxAssetName    = 255
	MaxLabel        = 255
)

// Asset is a row of the table release_assets with its file.
type Asset struct {
	ID          int64
	ReleaseID   int64
	Name        string
	Label       *string
	ContentType string // as the uploader said
	UploaderID  account.ID
	Downloads   int64
	CreatedAt   db.Time
	UpdatedAt   db.Time
	File        file.File
}

// NewAsset is what somebody uploads.
type NewAsset struct {
	Name        string // see CleanName
	Label       string // empty: none
	ContentType string // what is not a media type becomes that of any bytes
	Size        int64  // in bytes, as it was announced; -1: it was not
	From        io.Reader
	Replaces    []int64 // assets of which one may have the name: it goes in the transaction that adds this one
}

// CleanName returns the name under which a file is stored, as at GitHub: characters other than letters,
// digits, '-', '_', '+' and '@' become dots, consecutive ones a single dot; a name that begins with a dot
// gets a prefix. Names that are paths, or hold control characters, are refused: ok is false, as for those
// that are too long.
func CleanName(given string) (name string, ok bool) {
	if given == "" || len(given) > MaxAssetName || !utf8.ValidString(given) ||
		strings.ContainsAny(given, `/\`) ||
		strings.ContainsFunc(given, unicode.IsControl) {
		return "", false
	}
	var b strings.Builder
	for _, c := range given {
		switch {
		case c < utf8.RuneSelf && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("-_+@", c)):
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "."):
			b.WriteByte('.')
		}
	}
	name = strings.TrimRight(b.String(), ".")
	if name == "" || name[0] == '.' {
		name = "default" + name
	}
	return name, len(name) <= MaxAssetName
}

// CleanType is the media type that an uploader gives; an invalid one becomes application/octet-stream.
func CleanType(given string) string {
	if _, _, err := mime.ParseMediaType(given); err != nil || len(given) > 255 || !utf8.ValidString(given) ||
		strings.ContainsFunc(given, unicode.IsControl) {
		return file.AnyBytes
	}
	return given
}

func assetError(field, code, message string) error {
	return errs.Validation(errs.Field{Resource: AssetResource, Field: field, Code: code, Message: message})
}

func nameTaken() error { return assetError("name", errs.AlreadyExists, "") }

// sizeError is the 422 for a file that is too large, or empty.
func (s *Service) sizeError(size int64) error {
	if size == 0 {
		return assetError("size", errs.Custom, "size must be greater than or equal to 1")
	}
	return errs.Validation(errs.Field{Resource: AssetResource, Field: "size", Code: errs.Custom,
		Message: "size must be less than or equal to " + strconv.FormatInt(s.MaxAsset, 10)})
}

// clean writes the values as they are stored. Errors: 422.
func (n *NewAsset) clean() error {
	if n.Name == "" {
		return assetError("name", errs.MissingField, "")
	}
	var ok bool
	if n.Name, ok = CleanName(n.Name); !ok {
		return assetError("name", errs.InvalidField, "name must be the name of a file, without a path")
	}
	if utf8.RuneCountInString(n.Label) > MaxLabel || !utf8.ValidString(n.Label) || strings.Contains(n.Label, "\x00") {
		return assetError("label", errs.InvalidField, "label must be a text of at most 255 characters")
	}
	n.ContentType = CleanType(n.ContentType)
	return nil
}

// Upload adds a file to a release, while it comes. Errors: 404; 422 for a name that is wrong or that another asset
// has, for a label that is too long, for a file that is empty or too large, for more than MaxAssets; 403 for
// the owner's quota; 507; those of the body.
func (s *Service) Upload(ctx context.Context, a *repo.Access, releaseID int64, n NewAsset) (*Asset, error) {
	if err := n.clean(); err != nil {
		return nil, err
	}
	made := &Asset{ReleaseID: releaseID, Name: n.Name, Label: web.OrNil(n.Label), ContentType: n.ContentType,
		UploaderID: a.Caller.ID}
	err := s.files.Upload(ctx, a.ID, file.Incoming{From: n.From, Size: n.Size, Most: s.MaxAsset, As: a},
		func(tx *db.Tx) error { return mayAdd(tx, a.ID, releaseID, n) },
		func(tx *db.Tx, f *file.File) error {
			if err := s.replace(tx, a.ID, releaseID, n); err != nil {
				return err
			}
			made.File, made.CreatedAt, made.UpdatedAt = *f, tx.Now, tx.Now
			return insertAsset(tx, made)
		})
	switch {
	case errors.Is(err, file.ErrEmpty):
		return nil, s.sizeError(0)
	case errors.Is(err, file.ErrSize):
		return nil, s.sizeError(s.MaxAsset + 1)
	case err != nil:
		return nil, err
	}
	return made, nil
}

// mayAdd checks that a release can get an asset. Errors: 404, 422.
func mayAdd(tx *db.Tx, repoID repo.ID, releaseID int64, n NewAsset) error {
	if _, err := byID(tx, repoID, releaseID); err != nil {
		return err
	}
	count, taken, err := countAssets(tx, releaseID, n.Name)
	if err == nil && taken && len(n.Replaces) > 0 {
		var old *Asset
		if old, err = assetByName(tx, releaseID, n.Name); err == nil && slices.Contains(n.Replaces, old.ID) {
			return nil
		}
	}
	switch {
	case err != nil:
		return err
	case taken:
		return nameTaken()
	case count >= MaxAssets:
		return assetError("", errs.Custom, "file count limited to 1000 assets per release")
	}
	return nil
}

// replace removes the asset that has the name of a new one, which mayAdd has allowed.
func (s *Service) replace(tx *db.Tx, repoID repo.ID, releaseID int64, n NewAsset) error {
	if len(n.Replaces) == 0 {
		return nil
	}
	old, err := assetByName(tx, releaseID, n.Name)
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.drop(tx, repoID, old)
}

// drop removes an asset and its file.
func (s *Service) drop(tx *db.Tx, repoID repo.ID, x *Asset) error {
	if err := removeAsset(tx, x.ID); err != nil {
		return err
	}
	return s.files.Drop(tx, repoID, []file.ID{x.File.ID})
}

// dropAssets removes those of some assets that a release has.
func (s *Service) dropAssets(tx *db.Tx, r *Release, ids []int64) error {
	for _, id := range ids {
		x, err := assetByID(tx, r.RepoID, id)
		if err == nil && x.ReleaseID == r.ID {
			err = s.drop(tx, r.RepoID, x)
		}
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

// AssetEdit holds the fields of an asset that a caller sets. The others stay as they are.
type AssetEdit struct {
	Name  web.Opt[string]
	Label web.Opt[string] // null and an empty text take it away
}

// EditAsset changes an asset. Errors: 404, 422 for a name that another one has.
func (s *Service) EditAsset(ctx context.Context, a *repo.Access, id int64, e AssetEdit) (*Asset, error) {
	var made *Asset
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		x, err := assetByID(tx, a.ID, id)
		if err != nil {
			return err
		}
		if name := e.Name.Or(x.Name); name != x.Name {
			_, taken, err := countAssets(tx, x.ReleaseID, name)
			if err == nil && taken {
				err = nameTaken()
			}
			if err != nil {
				return err
			}
			x.Name = name
		}
		if e.Label.Set {
			x.Label = web.OrNil(e.Label.Value)
		}
		x.UpdatedAt = tx.Now
		made = x
		return updateAsset(tx, x)
	})
	return made, err
}

// DeleteAsset removes an asset and its file. Error: 404.
func (s *Service) DeleteAsset(ctx context.Context, a *repo.Access, id int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		x, err := assetByID(tx, a.ID, id)
		if err != nil {
			return err
		}
		return s.drop(tx, a.ID, x)
	})
}
