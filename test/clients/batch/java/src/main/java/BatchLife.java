// SPDX-License-Identifier: MIT
// The life of a pool, a job and its tasks through azure-batch, unmodified; with the variables of
// `batchaid env ACCOUNT` and PACKAGE, a package of the account, and BLOB_URL.

import com.microsoft.azure.batch.BatchClient;
import com.microsoft.azure.batch.DetailLevel;
import com.microsoft.azure.batch.auth.BatchSharedKeyCredentials;
import com.microsoft.azure.batch.protocol.models.*;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.joda.time.Period;

public class BatchLife {
    private static final String POOL = "java-pool", JOB = "java-job";
    private final BatchClient client = BatchClient.open(new BatchSharedKeyCredentials(
        env("AZURE_BATCH_ENDPOINT"), env("AZURE_BATCH_ACCOUNT"), env("AZURE_BATCH_ACCESS_KEY")));

    private interface Call<T> {
        T get() throws Exception;
    }

    private static String env(String name) {
        return System.getenv(name);
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static <T> T until(Call<T> get, Predicate<T> done, String what) throws Exception {
        for (long end = System.currentTimeMillis() + 60000;;) {
            T seen = get.get();
            if (done.test(seen)) {
                return seen;
            }
            check(System.currentTimeMillis() < end, what);
            Thread.sleep(50);
        }
    }

    private static void refused(String code, Call<Object> call) throws Exception {
        try {
            call.get();
        } catch (BatchErrorException e) {
            check(e.body().code().equals(code), e.body().code());
            return;
        }
        throw new AssertionError(code + " did not come");
    }

    private CloudPool steady() throws Exception {
        return until(() -> client.poolOperations().getPool(POOL),
            p -> p.allocationState() == AllocationState.STEADY, "a steady pool");
    }

    private void makePool() throws Exception {
        ImageInformation image = client.accountOperations().listSupportedImages().stream()
            .filter(i -> i.imageReference().offer().equalsIgnoreCase("ubuntuserver")).findFirst().get();
        client.poolOperations().createPool(new PoolAddParameter()
            .withId(POOL)
            .withVmSize("Standard_D2_v2")
            .withTargetDedicatedNodes(1)
            .withVirtualMachineConfiguration(new VirtualMachineConfiguration()
                .withImageReference(image.imageReference())
                .withNodeAgentSKUId(image.nodeAgentSKUId()))
            .withStartTask(new StartTask().withCommandLine("/bin/sh -c 'echo $AZ_BATCH_NODE_ID'").withWaitForSuccess(true))
            .withMetadata(List.of(new MetadataItem().withName("made by").withValue("java"))));
        check(client.poolOperations().existsPool(POOL), "no pool");
        steady();
        client.poolOperations().resizePool(POOL, 2, 0);
        until(() -> client.computeNodeOperations().listComputeNodes(POOL).stream()
            .filter(n -> n.state() == ComputeNodeState.IDLE).count(), n -> n == 2, "two idle nodes");
        CloudPool pool = steady();
        check(pool.currentDedicatedNodes() == 2 && pool.creationTime() != null, "the pool");
        client.poolOperations().patchPool(POOL, new PoolPatchParameter()
            .withMetadata(List.of(new MetadataItem().withName("a").withValue("b"))));
        check(client.poolOperations().getPool(POOL).metadata().get(0).value().equals("b"), "metadata");
        DetailLevel one = new DetailLevel.Builder().withFilterClause("id eq '" + POOL + "'").withSelectClause("id").build();
        check(client.poolOperations().listPools(one).size() == 1, "pools");
        refused("PoolExists", () -> {
            client.poolOperations().createPool(POOL, "Standard_D2_v2", pool.virtualMachineConfiguration(), 0);
            return null;
        });
    }

    private void addTasks() throws Exception {
        String[] app = env("PACKAGE").split("#");
        String variable = "AZ_BATCH_APP_PACKAGE_" + app[0] + "_" + app[1].replace('.', '_');
        client.jobOperations().createJob(new JobAddParameter()
            .withId(JOB)
            .withPoolInfo(new PoolInformation().withPoolId(POOL))
            .withUsesTaskDependencies(true));
        client.taskOperations().createTask(JOB, new TaskAddParameter()
            .withId("first")
            .withCommandLine("/bin/sh -c '$" + variable + "/bin/say.sh; cat blob.txt; echo $GREETING'")
            .withEnvironmentSettings(List.of(new EnvironmentSetting().withName("GREETING").withValue("java")))
            .withApplicationPackageReferences(List.of(
                new ApplicationPackageReference().withApplicationId(app[0]).withVersion(app[1])))
            .withResourceFiles(List.of(new ResourceFile().withHttpUrl(env("BLOB_URL")).withFilePath("blob.txt")))
            .withConstraints(new TaskConstraints().withMaxWallClockTime(Period.minutes(10)).withMaxTaskRetryCount(1)));
        List<TaskAddParameter> more = new ArrayList<>();
        for (int n = 0; n < 120; n++) {
            more.add(new TaskAddParameter().withId("more" + n).withCommandLine(n == 0 ? "/bin/sh -c 'exit 3'" : "/bin/true"));
        }
        more.get(119).withDependsOn(new TaskDependencies().withTaskIds(List.of("first")));
        // Of more than 100 it may miss that one of its threads has ended, and wait for ever.
        client.taskOperations().createTasks(JOB, more.subList(0, 100));
        client.taskOperations().createTasks(JOB, more.subList(100, 120));
        refused("TaskExists", () -> {
            client.taskOperations().createTask(JOB, new TaskAddParameter().withId("first").withCommandLine("/bin/true"));
            return null;
        });
    }

    private CloudTask runJob() throws Exception {
        addTasks();
        DetailLevel open = new DetailLevel.Builder().withFilterClause("state ne 'completed'").build();
        until(() -> client.taskOperations().listTasks(JOB, open).size(), n -> n == 0, "all tasks completed");
        TaskCounts counts = client.jobOperations().getTaskCounts(JOB);
        check(counts.completed() == 121 && counts.succeeded() == 120 && counts.failed() == 1, "counts");
        CloudTask first = client.taskOperations().getTask(JOB, "first");
        check(first.executionInfo().exitCode() == 0, "the first task failed");
        TaskExecutionInformation failed = client.taskOperations().getTask(JOB, "more0").executionInfo();
        check(failed.exitCode() == 3 && failed.failureInfo().code().equals("FailureExitCode"), "the failure");
        return first;
    }

    private void readFiles(CloudTask task) throws Exception {
        ByteArrayOutputStream text = new ByteArrayOutputStream(), again = new ByteArrayOutputStream();
        client.fileOperations().getFileFromTask(JOB, "first", "stdout.txt", text);
        check(text.toString().equals("from a package\nfrom a blob\njava\n"), text.toString());
        client.fileOperations().getFileFromComputeNode(
            POOL, task.nodeInfo().nodeId(), task.nodeInfo().taskRootDirectory() + "/stdout.txt", again);
        check(again.toString().equals(text.toString()), again.toString());
        check(client.fileOperations().listFilesFromTask(JOB, "first", true, null).stream()
            .anyMatch(f -> f.name().equals("wd/blob.txt")), "the list of files");
        check(client.fileOperations().getFilePropertiesFromTask(JOB, "first", "stdout.txt").contentLength() == text.size(), "length");
        client.fileOperations().deleteFileFromTask(JOB, "first", "wd/blob.txt");
    }

    private void useANode(CloudTask task) throws Exception {
        String node = task.nodeInfo().nodeId();
        client.computeNodeOperations().addComputeNodeUser(
            POOL, node, new ComputeNodeUser().withName("ada").withPassword("pw-never-Shown1"));
        check(client.computeNodeOperations().getComputeNodeRemoteLoginSettings(POOL, node).remoteLoginPort() > 0, "port");
        client.computeNodeOperations().deleteComputeNodeUser(POOL, node, "ada");
        client.computeNodeOperations().disableComputeNodeScheduling(
            POOL, node, DisableComputeNodeSchedulingOption.REQUEUE);
        check(client.computeNodeOperations().getComputeNode(POOL, node).schedulingState() == SchedulingState.DISABLED, "scheduling");
        client.computeNodeOperations().enableComputeNodeScheduling(POOL, node);
    }

    private void end() throws Exception {
        client.jobOperations().patchJob(JOB, new JobPatchParameter().withPriority(100));
        client.jobOperations().disableJob(JOB, DisableJobOption.REQUEUE);
        until(() -> client.jobOperations().getJob(JOB).state(), s -> s == JobState.DISABLED, "a disabled job");
        client.jobOperations().enableJob(JOB);
        client.jobOperations().terminateJob(JOB, "enough");
        CloudJob job = until(() -> client.jobOperations().getJob(JOB), j -> j.state() == JobState.COMPLETED, "a completed job");
        check(job.priority() == 100 && job.executionInfo().terminateReason().equals("enough"), "the job");
        client.taskOperations().deleteTask(JOB, "more1");
        client.jobOperations().deleteJob(JOB);
        until(() -> client.jobOperations().listJobs().stream().anyMatch(j -> j.id().equals(JOB)), there -> !there, "no job");
        refused("JobNotFound", () -> client.jobOperations().getJob(JOB));
        client.poolOperations().deletePool(POOL);
        until(() -> client.poolOperations().existsPool(POOL), there -> !there, "no pool");
    }

    public static void main(String[] arguments) throws Exception {
        BatchLife life = new BatchLife();
        life.makePool();
        CloudTask first = life.runJob();
        life.readFiles(first);
        life.useANode(first);
        life.end();
        System.out.println("ok java-batch " + life.client.protocolLayer().apiVersion());
        System.exit(0); // the SDK's thread pools would live on for a minute
    }
}
