// SPDX-License-Identifier: MIT

package batchaidtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// unpacked returns the program of an archive, which is unpacked once for all tests of the user: its folder has the
// checksum of the archive as its name, and appears when it is whole.
func unpacked(archive []byte) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	above := filepath.Join(cache, "batchaid")
	folder := filepath.Join(above, fmt.Sprintf("%x", sha256.Sum256(archive))[:16])
	path := filepath.Join(folder, "bin", "batchaid")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(above, 0o700); err != nil {
		return "", fmt.Errorf("the program cannot be unpacked: set XDG_CACHE_HOME to a folder that can be written (%w)", err)
	}
	part, err := os.MkdirTemp(above, "part-")
	if err != nil {
		return "", fmt.Errorf("the program cannot be unpacked: set XDG_CACHE_HOME to a folder that can be written (%w)", err)
	}
	defer os.RemoveAll(part)
	if err := unpack(archive, part); err != nil {
		return "", fmt.Errorf("the program cannot be unpacked in %s: %w", part, err)
	}
	// Another test may have been faster.
	if err := os.Rename(part, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("the program cannot be unpacked: %w", err)
	}
	return path, nil
}

func unpack(archive []byte, folder string) error {
	raw, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for files := tar.NewReader(raw); ; {
		entry, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(entry.Name) {
			return fmt.Errorf("the archive has the name %q, which leads out of it", entry.Name)
		}
		if err := put(files, filepath.Join(folder, entry.Name), entry.FileInfo().Mode()); err != nil {
			return err
		}
	}
}

// put writes one file.
func put(from io.Reader, path string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
