"""Questions as people ask them, each with the document that answers it.

They were written before any ranking was tried on them, in the asker's words and not in the
text's. One that fails shows a fault of the ranking or of the document, never of the question.
"""

from typing import Final

QUESTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("How does a cancel reach a run on another worker?", "docs/cancel.md"),
    ("I pressed stop. Am I still paying for the model's output?", "docs/cancel.md"),
    ("What happens to my research when the server is killed halfway through?", "docs/recovery.md"),
    ("Could a machine that froze and woke up later overwrite newer results?", "docs/recovery.md"),
    ("My wifi dropped while the report was being written. Did I miss any text?", "docs/events.md"),
    ("Will one slow browser hold up everybody else?", "docs/events.md"),
    ("Can I remove a step before the searching starts?", "docs/interrupts.md"),
    (
        "Two colleagues approve the same plan at the same time. Whose click counts?",
        "docs/interrupts.md",
    ),
    ("How can I be sure that a quoted sentence really is in the document?", "docs/citations.md"),
    ("What is done about made-up numbers in a sentence?", "docs/citations.md"),
    ("How do I use Ollama on my laptop instead of OpenAI?", "docs/models.md"),
    ("Can I put nginx with https in front of it?", "docs/deploy.md"),
    (
        "My script retries after a timeout. How do I avoid starting the same research twice?",
        "docs/api.md",
    ),
    ("Does it translate my German documents into English?", "docs/limits.md"),
    (
        "Why do nodes not report progress through LangGraph's stream writer?",
        "docs/adr/0002-one-path-for-events.md",
    ),
    ("任务在别的进程里跑，我点了停止，它怎么知道？", "docs/zh/cancel.md"),
    ("服务器突然断电，写了一半的报告还在吗？", "docs/zh/recovery.md"),
    ("怎么知道报告里的话不是模型编的？", "docs/zh/citations.md"),
    ("网络断了一下，中间的内容会不会丢？", "docs/zh/events.md"),
    ("怎样让它搜索我自己文件夹里的资料？", "docs/zh/guide.md"),
)
