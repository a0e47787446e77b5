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
	"strings"
)

// contents is a file beside the unpacked ones that has their names, each on a line.
const contents = "contents"

// unpacked returns the program of an archive, which is unpacked once for all tests of the user: its folder has the
// checksum of the archive as its name, and appears when it is whole. If something cleans the user's cache and removes
// files of the folder, the archive is unpacked again.
func unpacked(archive []byte) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	above := filepath.Join(cache, "batchaid")
	folder := filepath.Join(above, fmt.Sprintf("%x", sha256.Sum256(archive))[:16])
	path := filepath.Join(folder, "bin", "batchaid")
	if isWhole(folder) {
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
	err = os.Rename(part, folder)
	if errors.Is(err, fs.ErrExist) { // another test was faster, or files of the folder are missing
		err = moveFiles(part, folder)
	}
	if err != nil {
		return "", fmt.Errorf("the program cannot be unpacked: %w", err)
	}
	return path, nil
}

// isWhole tells whether no unpacked file is missing.
func isWhole(folder string) bool {
	names, err := os.ReadFile(filepath.Join(folder, contents))
	if err != nil {
		return false
	}
	for _, name := range strings.Split(string(names), "\n") {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}

// moveFiles replaces the files of a folder by the same files of another. Each file is whole at any time, because tests may
// start the program meanwhile.
func moveFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		return os.Rename(path, filepath.Join(to, name))
	})
}

func unpack(archive []byte, folder string) error {
	var names []string
	raw, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for files := tar.NewReader(raw); ; {
		entry, err := files.Next()
		if err == io.EOF {
			return os.WriteFile(filepath.Join(folder, contents), []byte(strings.Join(names, "\n")), 0o600)
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
		names = append(names, entry.Name)
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
