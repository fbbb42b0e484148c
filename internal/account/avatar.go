package account

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
	"sync"

	"arbor/internal/errs"
)

// An avatar is a grid of cells, mirrored about its middle column, with half a
// cell of margin; sizes in pixels.
const (
	avatarCells = 5
	avatarCell  = 14
	avatarSize  = (avatarCells + 1) * avatarCell
)

// parseAvatarID reads an account's id as it stands in an avatar's address, in
// its one spelling. Errors: errs.Absent.
func parseAvatarID(s string) (ID, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id <= 0 || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "0") {
		return 0, errs.Absent()
	}
	return ID(id), nil
}

// pngBuffers keeps the encoder's tables, of which each would cost near a megabyte.
type pngBuffers struct{ pool sync.Pool }

// Get is for png.Encoder; nil makes it use a new buffer.
func (p *pngBuffers) Get() *png.EncoderBuffer {
	b, _ := p.pool.Get().(*png.EncoderBuffer)
	return b
}

// Put is for png.Encoder.
func (p *pngBuffers) Put(b *png.EncoderBuffer) { p.pool.Put(b) }

// identicon draws the avatar of an id as a PNG: the cells and the colour come
// from a hash of the id, so every node draws the same picture.
func identicon(id ID, buffers *pngBuffers) ([]byte, error) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("avatar"), uint64(id)))
	// Each part of the colour stays in the middle, so it shows on the light ground.
	ink := color.RGBA{48 + sum[29]%144, 48 + sum[30]%144, 48 + sum[31]%144, 255}
	img := image.NewPaletted(image.Rect(0, 0, avatarSize, avatarSize),
		color.Palette{color.RGBA{240, 240, 240, 255}, ink})
	for row := range avatarCells {
		for column := range avatarCells {
			mirrored := min(column, avatarCells-1-column)
			if sum[row*avatarCells+mirrored]&1 == 1 {
				fillCell(img, row, column)
			}
		}
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: buffers}
	var b bytes.Buffer
	err := encoder.Encode(&b, img)
	return b.Bytes(), err
}

func fillCell(img *image.Paletted, row, column int) {
	top, left := avatarCell/2+row*avatarCell, avatarCell/2+column*avatarCell
	for y := top; y < top+avatarCell; y++ {
		for x := left; x < left+avatarCell; x++ {
			img.Pix[y*img.Stride+x] = 1
		}
	}
}
