"""The pages, one folder each; page.py is what Streamlit opens."""
