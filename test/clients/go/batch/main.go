// SPDX-License-Identifier: MIT

// The life of a pool, a job and its tasks through services/batch/2020-09-01.12.0/batch, unmodified, with a token; with
// the variables of `batchaid env ACCOUNT` and PACKAGE, a package of the account, and BLOB_URL.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"batchaid.test/clients/local"

	"github.com/Azure/azure-sdk-for-go/services/batch/2020-09-01.12.0/batch"
	"github.com/Azure/go-autorest/autorest"
	"github.com/Azure/go-autorest/autorest/to"
)

const (
	pool = "go-pool"
	job  = "go-job"
)

var (
	url      = os.Getenv("AZURE_BATCH_ENDPOINT")
	accounts = batch.NewAccountClient(url)
	pools    = batch.NewPoolClient(url)
	nodes    = batch.NewComputeNodeClient(url)
	jobs     = batch.NewJobClient(url)
	tasks    = batch.NewTaskClient(url)
	files    = batch.NewFileClient(url)
)

func login() {
	authorizer := local.Must(local.AuthorizerFor("https://batch.core.windows.net/"))
	for _, client := range []*batch.BaseClient{&accounts.BaseClient, &pools.BaseClient, &nodes.BaseClient,
		&jobs.BaseClient, &tasks.BaseClient, &files.BaseClient} {
		client.Authorizer = authorizer
	}
}

func refused(status int, err error) {
	var detailed autorest.DetailedError
	local.Assert(errors.As(err, &detailed) && detailed.StatusCode == status, "wanted %d, got %v", status, err)
}

func getPool(ctx context.Context) batch.CloudPool {
	return local.Must(pools.Get(ctx, pool, "", "", nil, nil, nil, nil, "", "", nil, nil))
}

func steady(ctx context.Context) batch.CloudPool {
	get := func() (batch.CloudPool, error) { return getPool(ctx), nil }
	return local.Until(ctx, get, func(p batch.CloudPool) bool { return p.AllocationState == batch.Steady })
}

func image(ctx context.Context) *batch.VirtualMachineConfiguration {
	page := local.Must(accounts.ListSupportedImagesComplete(ctx, "", nil, nil, nil, nil, nil))
	for ; page.NotDone(); local.Check(page.NextWithContext(ctx)) {
		if i := page.Value(); strings.EqualFold(*i.ImageReference.Offer, "ubuntuserver") {
			return &batch.VirtualMachineConfiguration{ImageReference: i.ImageReference, NodeAgentSKUID: i.NodeAgentSKUID}
		}
	}
	local.Assert(false, "no image of Ubuntu")
	return nil
}

func makePool(ctx context.Context) {
	wanted := batch.PoolAddParameter{
		ID:                          to.StringPtr(pool),
		VMSize:                      to.StringPtr("Standard_D2_v2"),
		TargetDedicatedNodes:        to.Int32Ptr(1),
		VirtualMachineConfiguration: image(ctx),
		StartTask: &batch.StartTask{
			CommandLine: to.StringPtr("/bin/sh -c 'echo $AZ_BATCH_NODE_ID'"), WaitForSuccess: to.BoolPtr(true)},
		Metadata: &[]batch.MetadataItem{{Name: to.StringPtr("made by"), Value: to.StringPtr("go")}},
	}
	local.Must(pools.Add(ctx, wanted, nil, nil, nil, nil))
	steady(ctx)
	local.Must(pools.Resize(ctx, pool, batch.PoolResizeParameter{TargetDedicatedNodes: to.Int32Ptr(2)},
		nil, nil, nil, nil, "", "", nil, nil))
	list := func() (batch.ComputeNodeListResultPage, error) {
		return nodes.List(ctx, pool, "", "", nil, nil, nil, nil, nil)
	}
	local.Until(ctx, list, func(page batch.ComputeNodeListResultPage) bool {
		idle := 0
		for _, n := range page.Values() {
			if n.State == batch.Idle {
				idle++
			}
		}
		return idle == 2
	})
	local.Assert(*steady(ctx).CurrentDedicatedNodes == 2, "nodes")
	patch := batch.PoolPatchParameter{Metadata: &[]batch.MetadataItem{{Name: to.StringPtr("a"), Value: to.StringPtr("b")}}}
	local.Must(pools.Patch(ctx, pool, patch, nil, nil, nil, nil, "", "", nil, nil))
	local.Assert(*(*getPool(ctx).Metadata)[0].Value == "b", "metadata")
	_, err := pools.Add(ctx, wanted, nil, nil, nil, nil)
	refused(http.StatusConflict, err)
}

func addTasks(ctx context.Context) {
	add := batch.JobAddParameter{ID: to.StringPtr(job), PoolInfo: &batch.PoolInformation{PoolID: to.StringPtr(pool)},
		UsesTaskDependencies: to.BoolPtr(true)}
	local.Must(jobs.Add(ctx, add, nil, nil, nil, nil))
	app, version, _ := strings.Cut(os.Getenv("PACKAGE"), "#")
	variable := "AZ_BATCH_APP_PACKAGE_" + app + "_" + strings.ReplaceAll(version, ".", "_")
	first := batch.TaskAddParameter{
		ID:                  to.StringPtr("first"),
		CommandLine:         to.StringPtr("/bin/sh -c '$" + variable + "/bin/say.sh; cat blob.txt; echo $GREETING'"),
		EnvironmentSettings: &[]batch.EnvironmentSetting{{Name: to.StringPtr("GREETING"), Value: to.StringPtr("go")}},
		ApplicationPackageReferences: &[]batch.ApplicationPackageReference{
			{ApplicationID: to.StringPtr(app), Version: to.StringPtr(version)}},
		ResourceFiles: &[]batch.ResourceFile{{HTTPURL: to.StringPtr(os.Getenv("BLOB_URL")), FilePath: to.StringPtr("blob.txt")}},
	}
	local.Must(tasks.Add(ctx, job, first, nil, nil, nil, nil))
	var more []batch.TaskAddParameter
	for n := 0; n < 100; n++ {
		more = append(more, batch.TaskAddParameter{ID: to.StringPtr(fmt.Sprintf("more%d", n)), CommandLine: to.StringPtr("/bin/true")})
	}
	more[0].CommandLine = to.StringPtr("/bin/sh -c 'exit 3'")
	more[99].DependsOn = &batch.TaskDependencies{TaskIds: &[]string{"first"}}
	added := local.Must(tasks.AddCollection(ctx, job, batch.TaskAddCollectionParameter{Value: &more}, nil, nil, nil, nil))
	for _, t := range *added.Value {
		local.Assert(strings.EqualFold(string(t.Status), "success"), "%s: %s", *t.TaskID, t.Status)
	}
	_, err := tasks.Add(ctx, job, first, nil, nil, nil, nil)
	refused(http.StatusConflict, err)
}

func getTask(ctx context.Context, id string) batch.CloudTask {
	return local.Must(tasks.Get(ctx, job, id, "", "", nil, nil, nil, nil, "", "", nil, nil))
}

func runJob(ctx context.Context) batch.CloudTask {
	addTasks(ctx)
	open := func() (batch.CloudTaskListResultPage, error) {
		return tasks.List(ctx, job, "state ne 'completed'", "", "", nil, nil, nil, nil, nil)
	}
	local.Until(ctx, open, func(page batch.CloudTaskListResultPage) bool { return len(page.Values()) == 0 })
	counts := local.Must(jobs.GetTaskCounts(ctx, job, nil, nil, nil, nil)).TaskCounts
	local.Assert(*counts.Completed == 101 && *counts.Succeeded == 100 && *counts.Failed == 1, "%v", counts)
	first, failed := getTask(ctx, "first"), getTask(ctx, "more0").ExecutionInfo
	local.Assert(*first.ExecutionInfo.ExitCode == 0, "the first task failed")
	local.Assert(*failed.ExitCode == 3 && *failed.FailureInfo.Code == "FailureExitCode", "the failure")
	return first
}

func text(reply batch.ReadCloser, err error) string {
	local.Check(err)
	defer (*reply.Value).Close()
	return string(local.Must(io.ReadAll(*reply.Value)))
}

func readFiles(ctx context.Context, task batch.CloudTask) {
	said := text(files.GetFromTask(ctx, job, *task.ID, "stdout.txt", nil, nil, nil, nil, "", nil, nil))
	local.Assert(said == "from a package\nfrom a blob\ngo\n", "%q", said)
	part := text(files.GetFromTask(ctx, job, *task.ID, "stdout.txt", nil, nil, nil, nil, "bytes=0-3", nil, nil))
	local.Assert(part == "from", "%q", part)
	info := task.NodeInfo
	path := *info.TaskRootDirectory + "/stdout.txt"
	again := text(files.GetFromComputeNode(ctx, pool, *info.NodeID, path, nil, nil, nil, nil, "", nil, nil))
	local.Assert(again == said, "%q", again)
	// The package cannot read lists of files: the service writes numbers of 64 bits as texts.
	_, err := files.ListFromTask(ctx, job, *task.ID, "", to.BoolPtr(true), nil, nil, nil, nil, nil)
	local.Assert(err != nil && strings.Contains(err.Error(), "cannot unmarshal string"), "%v", err)
	local.Must(files.GetPropertiesFromTask(ctx, job, *task.ID, "stdout.txt", nil, nil, nil, nil, nil, nil))
	local.Must(files.DeleteFromTask(ctx, job, *task.ID, "wd/blob.txt", nil, nil, nil, nil, nil))
}

func useANode(ctx context.Context, task batch.CloudTask) {
	node := *task.NodeInfo.NodeID
	user := batch.ComputeNodeUser{Name: to.StringPtr("ada"), Password: to.StringPtr("pw-never-Shown1")}
	local.Must(nodes.AddUser(ctx, pool, node, user, nil, nil, nil, nil))
	local.Assert(*local.Must(nodes.GetRemoteLoginSettings(ctx, pool, node, nil, nil, nil, nil)).RemoteLoginPort > 0, "port")
	local.Must(nodes.DeleteUser(ctx, pool, node, "ada", nil, nil, nil, nil))
	local.Must(nodes.DisableScheduling(ctx, pool, node, nil, nil, nil, nil, nil))
	seen := local.Must(nodes.Get(ctx, pool, node, "", nil, nil, nil, nil))
	local.Assert(seen.SchedulingState == batch.Disabled, "%s", seen.SchedulingState)
	local.Must(nodes.EnableScheduling(ctx, pool, node, nil, nil, nil, nil))
}

func getJob(ctx context.Context) (batch.CloudJob, error) {
	return jobs.Get(ctx, job, "", "", nil, nil, nil, nil, "", "", nil, nil)
}

func untilJob(ctx context.Context, state batch.JobState) batch.CloudJob {
	return local.Until(ctx, func() (batch.CloudJob, error) { return getJob(ctx) },
		func(j batch.CloudJob) bool { return j.State == state })
}

func end(ctx context.Context) {
	local.Must(jobs.Patch(ctx, job, batch.JobPatchParameter{Priority: to.Int32Ptr(100)}, nil, nil, nil, nil, "", "", nil, nil))
	local.Must(jobs.Disable(ctx, job, batch.JobDisableParameter{DisableTasks: batch.DisableJobOptionRequeue},
		nil, nil, nil, nil, "", "", nil, nil))
	untilJob(ctx, batch.JobStateDisabled)
	local.Must(jobs.Enable(ctx, job, nil, nil, nil, nil, "", "", nil, nil))
	why := batch.JobTerminateParameter{TerminateReason: to.StringPtr("enough")}
	local.Must(jobs.Terminate(ctx, job, &why, nil, nil, nil, nil, "", "", nil, nil))
	seen := untilJob(ctx, batch.JobStateCompleted)
	local.Assert(*seen.Priority == 100 && *seen.ExecutionInfo.TerminateReason == "enough", "the job")
	local.Must(tasks.Delete(ctx, job, "more1", nil, nil, nil, nil, "", "", nil, nil))
	local.Must(jobs.Delete(ctx, job, nil, nil, nil, nil, "", "", nil, nil))
	local.Until(ctx, func() (error, error) { _, err := getJob(ctx); return err, nil }, func(err error) bool { return err != nil })
	_, err := getJob(ctx)
	refused(http.StatusNotFound, err)
	local.Must(pools.Delete(ctx, pool, nil, nil, nil, nil, "", "", nil, nil))
	exists := func() (autorest.Response, error) {
		return pools.Exists(ctx, pool, nil, nil, nil, nil, "", "", nil, nil)
	}
	local.Until(ctx, exists, func(r autorest.Response) bool { return r.IsHTTPStatus(http.StatusNotFound) })
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	login()
	makePool(ctx)
	task := runJob(ctx)
	readFiles(ctx, task)
	useANode(ctx, task)
	end(ctx)
	fmt.Println("ok go-batch 2020-09-01.12.0")
}
