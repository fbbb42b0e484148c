// Package avatar draws the pictures of accounts from their ids: no store is asked.
package avatar

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

	"arbor/internal/account"
	"arbor/internal/errs"
)

// An avatar is a grid of cells, mirrored about its middle column, with half a
// cell of margin; sizes in pixels.
const (
	cells = 5
	cell  = 14
	size  = (cells + 1) * cell
)

// parseID reads an account's id as it stands in an avatar's address, in
// its one spelling. Errors: errs.Absent.
func parseID(s string) (account.ID, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id <= 0 || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "0") {
		return 0, errs.Absent()
	}
	return account.ID(id), nil
}

// pngBuffers reuses the encoder's tables, each almost a megabyte.
type pngBuffers struct{ pool sync.Pool }

// Get is for png.Encoder; nil makes it use a new buffer.
func (p *pngBuffers) Get() *png.EncoderBuffer {
	b, _ := p.pool.Get().(*png.EncoderBuffer)
	return b
}

// Put is for png.Encoder.
func (p *pngBuffers) Put(b *png.EncoderBuffer) { p.pool.Put(b) }

// draw draws the avatar of an id as a PNG: the cells and the colour come
// from a hash of the id, so every node draws the same picture.
func draw(id account.ID, buffers *pngBuffers) ([]byte, error) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("avatar"), uint64(id)))
	// The ground is transparent: pages give it a colour that fits their theme. Each part of the ink's colour stays in
	// the middle, so it shows on light and on grey.
	ink := color.RGBA{48 + sum[29]%144, 48 + sum[30]%144, 48 + sum[31]%144, 255}
	img := image.NewPaletted(image.Rect(0, 0, size, size),
		color.Palette{color.RGBA{}, ink})
	for row := range cells {
		for column := range cells {
			mirrored := min(column, cells-1-column)
			if sum[row*cells+mirrored]&1 == 1 {
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
	top, left := cell/2+row*cell, cell/2+column*cell
	for y := top; y < top+cell; y++ {
		for x := left; x < left+cell; x++ {
			img.Pix[y*img.Stride+x] = 1
		}
	}
}
