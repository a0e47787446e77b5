// SPDX-License-Identifier: MIT
// Files up and down through azblob and azfile, unmodified; ../../test_storage_clients.py says what for.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azfile/file"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azfile/service"
)

var (
	ctx              = context.Background()
	name, files, out = os.Args[1], os.Args[2], os.Args[3]
	sizes            = sorted()
	largest          = sizes[len(sizes)-1]
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func sorted() []int {
	var all []int
	for _, entry := range must(os.ReadDir(files)) {
		all = append(all, must(strconv.Atoi(entry.Name())))
	}
	sort.Ints(all)
	return all
}

func source(size int) *os.File {
	return must(os.Open(filepath.Join(files, strconv.Itoa(size))))
}

func target(format string, args ...any) *os.File {
	return must(os.Create(filepath.Join(out, fmt.Sprintf(format, args...))))
}

// The first half, as if the client had been stopped then; and what is missing.
func resume(kind string, download func(offset, count int64) io.ReadCloser) {
	to := target("%s-resumed", kind)
	defer to.Close()
	must(io.Copy(to, download(0, int64(largest/2))))
	got := must(to.Stat()).Size()
	must(io.Copy(to, download(got, 0)))
}

func blobs() int {
	key := must(azblob.NewSharedKeyCredential(os.Getenv("ACCOUNT"), os.Getenv("KEY")))
	client := must(azblob.NewClientWithSharedKeyCredential(os.Getenv("BLOBS"), key, nil))
	must(client.CreateContainer(ctx, name, nil))
	for _, size := range sizes {
		blob := strconv.Itoa(size)
		must(client.UploadFile(ctx, name, blob, source(size), &azblob.UploadFileOptions{BlockSize: 4 << 20, Concurrency: 4}))
		must(client.DownloadFile(ctx, name, blob, target("blob-%d", size), nil))
	}
	resume("blob", func(offset, count int64) io.ReadCloser {
		part := azblob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: offset, Count: count}}
		return must(client.DownloadStream(ctx, name, strconv.Itoa(largest), &part)).Body
	})
	prefix, n := "many/", 0
	for pages := client.NewListBlobsFlatPager("many", &azblob.ListBlobsFlatOptions{Prefix: &prefix}); pages.More(); {
		n += len(must(pages.NextPage(ctx)).Segment.BlobItems)
	}
	return n
}

func shares() int {
	key := must(service.NewSharedKeyCredential(os.Getenv("ACCOUNT"), os.Getenv("KEY")))
	client := must(service.NewClientWithSharedKeyCredential(os.Getenv("SHARES"), key, nil))
	share := client.NewShareClient(name)
	must(share.Create(ctx, nil))
	root := share.NewRootDirectoryClient()
	for _, size := range sizes {
		one := root.NewFileClient(strconv.Itoa(size))
		must(one.Create(ctx, int64(size), nil))
		if size > 0 { // azfile refuses to upload nothing
			if err := one.UploadFile(ctx, source(size), &file.UploadFileOptions{Concurrency: 4}); err != nil {
				log.Fatal(err)
			}
		}
		must(one.DownloadFile(ctx, target("file-%d", size), nil))
	}
	resume("file", func(offset, count int64) io.ReadCloser {
		part := file.DownloadStreamOptions{Range: file.HTTPRange{Offset: offset, Count: count}}
		return must(root.NewFileClient(strconv.Itoa(largest)).DownloadStream(ctx, &part)).Body
	})
	n := 0
	many := client.NewShareClient("many").NewDirectoryClient("many")
	for pages := many.NewListFilesAndDirectoriesPager(nil); pages.More(); {
		segment := must(pages.NextPage(ctx)).Segment
		n += len(segment.Files) + len(segment.Directories)
	}
	return n
}

func main() {
	fmt.Println("listed", blobs(), shares())
}
